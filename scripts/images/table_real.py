"""Summarise what pre-training brings on real images."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.core.files import read_parquet, write_markdown_table, write_parquet
    from featlearn.core.stats import SPREAD_KIND
    from featlearn.mrp.images.real_tables import real_table, wide_real

    table = real_table(read_parquet(job.input[0]))
    write_parquet(table, job.output.parquet)
    write_markdown_table(
        wide_real(table),
        job.output.markdown,
        title="Quality on test images, by start and share of the labels",
        notes=f"{' and '.join(dict.fromkeys(table['quantity']))}; after the sign: {SPREAD_KIND}.",
    )
