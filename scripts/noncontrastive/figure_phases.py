"""Draw the figures of the experiment ``phases``."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.core.files import read_parquet
    from featlearn.core.plots import save
    from featlearn.noncontrastive.figures.phases import FIGURES

    frames = {"times": read_parquet(job.input.times), "curves": read_parquet(job.input.curves)}
    drawn = FIGURES[job.wildcards.name](frames, job.config)
    save(drawn, job.output.svg, job.output.png)
