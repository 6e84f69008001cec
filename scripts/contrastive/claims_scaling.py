"""Judge the claims of the experiment ``scaling``."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    import pandas as pd

    from featlearn.contrastive.claims.scaling import CLAIMS
    from featlearn.core.claims import ledger
    from featlearn.core.files import read_parquet, write_parquet

    frames = {"sizes": pd.concat([read_parquet(path) for path in job.files("sizes")])}
    write_parquet(ledger(CLAIMS, frames, job.config), job.output[0])
