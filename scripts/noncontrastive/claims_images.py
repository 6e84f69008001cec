"""Judge the claims of the experiment on images."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.core.claims import ledger
    from featlearn.core.files import read_parquet, write_parquet
    from featlearn.noncontrastive.claims.images import claims

    names = ("history", "values", "histogram", "spectrum")
    frames = {name: read_parquet(getattr(job.input, name)) for name in names}
    write_parquet(ledger(claims(job.config["images"]), frames, job.config), job.output[0])
