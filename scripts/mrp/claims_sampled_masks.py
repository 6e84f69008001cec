"""Judge the claims on sampled masks."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.core.claims import ledger
    from featlearn.core.files import read_parquet, write_parquet
    from featlearn.mrp.claims.sampled_masks import CLAIMS

    frames = {"errors": read_parquet(job.input.errors)}
    write_parquet(ledger(CLAIMS, frames, job.config), job.output[0])
