"""Judge the claims about localisation."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.core.claims import ledger
    from featlearn.core.files import read_parquet, write_parquet
    from featlearn.mrp.claims.localisation import CLAIMS

    frames = {"localisation": read_parquet(job.input.localisation)}
    write_parquet(ledger(CLAIMS, frames, job.config), job.output[0])
