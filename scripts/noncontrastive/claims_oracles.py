"""Judge the claims of the experiment ``oracles``."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.core.claims import ledger
    from featlearn.core.files import read_parquet, write_parquet
    from featlearn.noncontrastive.claims.oracles import CLAIMS

    frames = {
        "instances": read_parquet(job.input.instances),
        "roles": read_parquet(job.input.roles),
    }
    write_parquet(ledger(CLAIMS, frames, job.config), job.output[0])
