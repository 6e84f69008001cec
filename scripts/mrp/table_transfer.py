"""Summarise the transfer cases: each recipe on old and on new classes."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.core.files import read_parquet, write_markdown_table, write_parquet
    from featlearn.core.stats import SPREAD_KIND
    from featlearn.mrp.transfer_table import transfer_table, wide

    table = transfer_table(read_parquet(job.input.accuracy))
    write_parquet(table, job.output.parquet)
    replicates = int(table["replicates"].max())
    write_markdown_table(
        wide(table),
        job.output.markdown,
        title="Transfer: old and new classes",
        notes=f"{replicates} replicates; after the sign: {SPREAD_KIND}.",
    )
