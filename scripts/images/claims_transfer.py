"""Judge the claims of the experiment ``images_transfer``."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.core.claims import ledger
    from featlearn.core.files import read_parquet, write_parquet
    from featlearn.mrp.claims.images import TRANSFER_CLAIMS

    frames = {
        "transfer": read_parquet(job.input.transfer),
        "detection": read_parquet(job.input.detection),
    }
    write_parquet(ledger(TRANSFER_CLAIMS, frames, job.config), job.output[0])
