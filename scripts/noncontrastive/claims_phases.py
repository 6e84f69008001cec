"""Judge the claims of the experiment ``phases``."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.core.claims import ledger
    from featlearn.core.files import read_parquet, write_parquet
    from featlearn.noncontrastive.claims.phases import CLAIMS

    frames = {"times": read_parquet(job.input.times), "curves": read_parquet(job.input.curves)}
    write_parquet(ledger(CLAIMS, frames, job.config), job.output[0])
