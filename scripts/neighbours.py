"""Gather what neighbours measured, and tell which verdicts they turn."""

from featlearn.core.run.job import Job

with Job(snakemake) as job:
    from featlearn.core.files import read_parquet, write_atomically, write_parquet
    from featlearn.core.publishing.neighbours import gathered, page

    about, (*ledgers, run) = job.params.about, [read_parquet(file) for file in job.input]
    found = gathered(list(zip(about, ledgers, strict=True)))
    write_parquet(found, job.output.ledger)
    write_atomically(job.output.page, page(run, found).encode())
