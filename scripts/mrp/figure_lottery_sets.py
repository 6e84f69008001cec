"""Draw the figure ``lottery-sets``."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.core.files import read_parquet
    from featlearn.core.plots import save
    from featlearn.mrp.figures.initialisation import lottery_sets

    drawn = lottery_sets(read_parquet(job.input.lottery))
    save(drawn, job.output.svg, job.output.png)
