"""Judge the claims about fine-tuning."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.core.claims import ledger
    from featlearn.core.files import read_parquet, write_parquet
    from featlearn.mrp.claims.finetuning import CLAIMS

    frames = {
        "evaluation": read_parquet(job.input.evaluation),
        "learning": read_parquet(job.input.learning),
        "balance": read_parquet(job.input.balance),
    }
    write_parquet(ledger(CLAIMS, frames, job.config), job.output[0])
