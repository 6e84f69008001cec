"""Judge the claims of the experiment ``stages``."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.contrastive.claims.stages import CLAIMS
    from featlearn.core.claims import ledger
    from featlearn.core.files import read_parquet, write_parquet

    names = ("moments", "evaluation", "labels", "decoupling")
    frames = {name: read_parquet(getattr(job.input, name)) for name in names}
    write_parquet(ledger(CLAIMS, frames, job.config), job.output[0])
