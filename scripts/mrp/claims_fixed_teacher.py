"""Judge the claims on a fixed teacher."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.core.claims import ledger
    from featlearn.core.files import read_parquet, write_parquet
    from featlearn.mrp.claims.fixed_teacher import CLAIMS

    frames = {"evaluation": read_parquet(job.input.evaluation)}
    write_parquet(ledger(CLAIMS, frames, job.config), job.output[0])
