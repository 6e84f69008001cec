"""Judge the claims about the purity of the pre-trained kernels."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.core.claims import ledger
    from featlearn.core.files import read_parquet, write_parquet
    from featlearn.mrp.claims.purity import CLAIMS

    frames = {"purity": read_parquet(job.input.purity)}
    write_parquet(ledger(CLAIMS, frames, job.config), job.output[0])
