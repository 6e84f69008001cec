"""Judge the claims of the experiment ``eigencam``."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.core.claims import ledger
    from featlearn.core.files import read_parquet, write_parquet
    from featlearn.mrp.claims.cams import CLAIMS

    frames = {"eigencam": read_parquet(job.input[0])}
    write_parquet(ledger(CLAIMS, frames, job.config), job.output[0])
