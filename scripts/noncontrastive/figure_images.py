"""Draw the figures of the experiment on images."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.core.files import read_parquet
    from featlearn.core.plots import save
    from featlearn.noncontrastive.figures.images import FIGURES
    from featlearn.noncontrastive.images.words import ordered

    names = ("history", "values", "histogram", "spectrum")
    frames = {name: read_parquet(getattr(job.input, name)) for name in names}
    drawn = FIGURES[job.wildcards.name](frames, ordered(job.config))
    save(drawn, job.output.svg, job.output.png)
