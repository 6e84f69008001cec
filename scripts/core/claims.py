"""Bring the ledgers of all papers together."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    import pandas as pd

    from featlearn.core.files import read_parquet, write_parquet

    ledgers = [read_parquet(path) for path in job.files("ledgers")]
    write_parquet(pd.concat(ledgers, ignore_index=True), job.output[0])
