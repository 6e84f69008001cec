"""Write Table 1 of the paper: its own numbers, and beside them what stands in for each here."""

from pathlib import Path

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.core.files import read_parquet, write_markdown_table, write_parquet
    from featlearn.core.quoted import quoted_table
    from featlearn.core.stats import SPREAD_KIND
    from featlearn.mrp.images.cam_tables import table_1, wide_table_1

    quoted, about = quoted_table(Path(job.input.values), job.wildcards.name)
    names = ("comparison", "transfer", "detection")
    table = table_1(quoted, {name: read_parquet(getattr(job.input, name)) for name in names})
    write_parquet(table, job.output.parquet)
    write_markdown_table(
        wide_table_1(table),
        job.output.markdown,
        title=about["title"],
        notes=f"paper_value: quoted from {about['source']}. measured: by this run, in %, on "
        "part-composed pictures and a network of their size, which stand in for the paper's; "
        "only signs can be compared, not sizes. "
        f"{int(table['replicates'].max())} replicates; after the sign: {SPREAD_KIND}.",
    )
