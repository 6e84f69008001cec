"""Draw the figures of the experiment ``algorithm``."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.core.files import read_parquet
    from featlearn.core.plots import save
    from featlearn.noncontrastive.figures.algorithm import FIGURES

    frames = {"history": read_parquet(job.input.history), "flow": read_parquet(job.input.flow)}
    drawn = FIGURES[job.wildcards.name](frames, job.config)
    save(drawn, job.output.svg, job.output.png)
