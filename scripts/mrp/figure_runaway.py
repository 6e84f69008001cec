"""Draw the figure ``runaway``."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.core.files import read_parquet
    from featlearn.core.plots import save
    from featlearn.mrp.figures.runaway import runaway

    save(runaway(read_parquet(job.input.pair), job.params.varrho), job.output.svg, job.output.png)
