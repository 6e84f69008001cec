"""Summarise transfer to new classes and detection."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.core.files import read_parquet, write_markdown_table, write_parquet
    from featlearn.core.stats import SPREAD_KIND
    from featlearn.mrp.images.tables import transfer_table, wide_transfer

    table = transfer_table(read_parquet(job.input.transfer), read_parquet(job.input.detection))
    write_parquet(table, job.output.parquet)
    replicates = int(table["replicates"].max())
    write_markdown_table(
        wide_transfer(table),
        job.output.markdown,
        title="What an encoder brings to new classes and to detection",
        notes=f"{replicates} replicates; after the sign: {SPREAD_KIND}.",
    )
