"""Judge the claims of the experiment ``algorithm``."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.core.claims import ledger
    from featlearn.core.files import read_parquet, write_parquet
    from featlearn.noncontrastive.claims.algorithm import CLAIMS

    frames = {"history": read_parquet(job.input.history), "flow": read_parquet(job.input.flow)}
    write_parquet(ledger(CLAIMS, frames, job.config), job.output[0])
