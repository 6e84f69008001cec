"""Judge the claims of the experiment ``starts``."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.core.claims import ledger
    from featlearn.core.files import read_parquet, write_parquet
    from featlearn.noncontrastive.claims.starts import CLAIMS

    frames = {
        "outcomes": read_parquet(job.input.outcomes),
        "diagram": read_parquet(job.input.diagram),
    }
    write_parquet(ledger(CLAIMS, frames, job.config), job.output[0])
