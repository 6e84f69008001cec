"""Judge the claims of the experiment ``sweeps``."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.core.claims import ledger
    from featlearn.core.files import read_parquet, write_parquet
    from featlearn.mrp.claims.sweeps import CLAIMS

    files = {"supervised": job.input.supervised, "pretrained": job.input.pretrained}
    frames = {name: read_parquet(file) for name, file in files.items()}
    write_parquet(ledger(CLAIMS, frames, job.config), job.output[0])
