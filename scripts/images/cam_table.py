"""Summarise which parts classifiers use."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.core.files import read_parquet, write_markdown_table, write_parquet
    from featlearn.core.stats import SPREAD_KIND
    from featlearn.mrp.images.cam_tables import part_use_table, wide_part_use

    table = part_use_table(read_parquet(job.input[0]))
    write_parquet(table, job.output.parquet)
    replicates = int(table["replicates"].max())
    write_markdown_table(
        wide_part_use(table),
        job.output.markdown,
        title="Which parts classifiers use, on multi-view pictures",
        notes=f"{replicates} replicates; after the sign: {SPREAD_KIND}.",
    )
