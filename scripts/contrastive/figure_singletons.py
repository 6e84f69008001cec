"""Draw the figure ``singletons``."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.contrastive.figures.stages import singletons
    from featlearn.core.files import read_parquet
    from featlearn.core.plots import save

    drawn = singletons(read_parquet(job.input.alignment), read_parquet(job.input.moments))
    save(drawn, job.output.svg, job.output.png)
