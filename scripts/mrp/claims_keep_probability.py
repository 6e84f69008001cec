"""Judge the claims of the experiment ``keep_probability``."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.core.claims import ledger
    from featlearn.core.files import read_parquet, write_parquet
    from featlearn.mrp.claims.keep_probability import CLAIMS

    names = (
        "trade_off",
        "fixed_points",
    )
    frames = {name: read_parquet(getattr(job.input, name)) for name in names}
    write_parquet(ledger(CLAIMS, frames, job.config), job.output[0])
