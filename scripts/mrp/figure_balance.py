"""Draw the figure ``balance``."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.core.files import read_parquet
    from featlearn.core.plots import save
    from featlearn.mrp.figures.finetuning import balance

    drawn = balance(read_parquet(job.input.balance))
    save(drawn, job.output.svg, job.output.png)
