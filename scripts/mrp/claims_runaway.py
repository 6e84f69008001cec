"""Judge the claims of the runaway experiment."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.core.claims import ledger
    from featlearn.core.files import read_parquet, write_parquet
    from featlearn.mrp.claims.runaway import CLAIMS

    frames = {"evaluation": read_parquet(job.input.outcome)}
    write_parquet(ledger(CLAIMS, frames, job.config), job.output[0])
