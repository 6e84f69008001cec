"""Judge the claims of the experiment ``ablations``."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.contrastive.claims.ablations import CLAIMS
    from featlearn.core.claims import ledger
    from featlearn.core.files import read_parquet, write_parquet

    frames = {"evaluation": read_parquet(job.input.evaluation)}
    write_parquet(ledger(CLAIMS, frames, job.config), job.output[0])
