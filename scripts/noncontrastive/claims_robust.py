"""Judge the claims of Figure 5."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.core.claims import ledger
    from featlearn.core.files import read_parquet, write_parquet
    from featlearn.noncontrastive.claims.robust import claims

    frames = {"values": read_parquet(job.input.values)}
    write_parquet(ledger(claims(job.config), frames, job.config), job.output[0])
