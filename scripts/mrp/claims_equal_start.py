"""Judge the claims of the comparison from equal starts."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.core.claims import ledger
    from featlearn.core.files import read_parquet, write_parquet
    from featlearn.mrp.claims.equal_start import CLAIMS

    frames = {"evaluation": read_parquet(job.input.evaluation)}
    write_parquet(ledger(CLAIMS, frames, job.config), job.output[0])
