"""Draw the figure ``trained-thresholds``."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.contrastive.figures.thresholds import trained
    from featlearn.core.files import read_parquet
    from featlearn.core.plots import save

    drawn = trained(read_parquet(job.input.history), read_parquet(job.input.evaluation))
    save(drawn, job.output.svg, job.output.png)
