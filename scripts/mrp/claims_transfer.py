"""Judge the claims about the transfer cases."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.core.claims import ledger
    from featlearn.core.files import read_parquet, write_parquet
    from featlearn.mrp.claims.transfer import CLAIMS

    frames = {"accuracy": read_parquet(job.input.accuracy)}
    write_parquet(ledger(CLAIMS, frames, job.config), job.output[0])
