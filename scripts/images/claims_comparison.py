"""Judge the claims of the experiment ``images_comparison``."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.core.claims import ledger
    from featlearn.core.files import read_parquet, write_parquet
    from featlearn.mrp.claims.images import COMPARISON_CLAIMS

    frames = {"comparison": read_parquet(job.input[0])}
    write_parquet(ledger(COMPARISON_CLAIMS, frames, job.config), job.output[0])
