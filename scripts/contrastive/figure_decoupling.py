"""Draw the figure ``decoupling``."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.contrastive.figures.stages import decoupling
    from featlearn.core.files import read_parquet
    from featlearn.core.plots import save

    drawn = decoupling(read_parquet(job.input.decoupling))
    save(drawn, job.output.svg, job.output.png)
