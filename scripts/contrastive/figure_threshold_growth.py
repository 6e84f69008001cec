"""Draw the figure ``threshold-growth``."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.contrastive.figures.thresholds import growth
    from featlearn.core.files import read_parquet
    from featlearn.core.plots import save

    drawn = growth(read_parquet(job.input.history), read_parquet(job.input.evaluation), job.config)
    save(drawn, job.output.svg, job.output.png)
