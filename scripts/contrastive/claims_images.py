"""Judge the claims about Figures 1 to 4."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.contrastive.claims.images import claims
    from featlearn.core.claims import ledger
    from featlearn.core.files import read_parquet, write_parquet

    frames = {"evaluations": read_parquet(job.input[0])}
    write_parquet(ledger(claims(job.config), frames, job.config), job.output[0])
