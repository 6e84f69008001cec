"""Draw the figure ``downstream``."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.contrastive.figures.downstream import downstream
    from featlearn.core.files import read_parquet
    from featlearn.core.plots import save

    drawn = downstream(read_parquet(job.input.evaluation))
    save(drawn, job.output.svg, job.output.png)
