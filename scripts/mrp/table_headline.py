"""Summarise the evaluation: the headline table."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.core.files import read_parquet, write_markdown_table, write_parquet
    from featlearn.core.stats import SPREAD_KIND
    from featlearn.mrp.tables import headline_table, wide

    table = headline_table(read_parquet(job.input.evaluation))
    write_parquet(table, job.output.parquet)
    replicates = int(table["replicates"].max())
    write_markdown_table(
        wide(table),
        job.output.markdown,
        title="Supervised training against mask-reconstruction pre-training",
        notes=f"{replicates} replicates; after the sign: {SPREAD_KIND}.",
    )
