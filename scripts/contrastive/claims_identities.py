"""Judge the claims of the experiment ``identities``."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.contrastive.claims.identities import CLAIMS
    from featlearn.core.claims import ledger
    from featlearn.core.files import read_parquet, write_parquet

    frames = {name: read_parquet(getattr(job.input, name)) for name in ("instances", "sampled")}
    write_parquet(ledger(CLAIMS, frames, job.config), job.output[0])
