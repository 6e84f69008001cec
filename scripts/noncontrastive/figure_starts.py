"""Draw the figures of the experiment ``starts``."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.core.files import read_parquet
    from featlearn.core.plots import save
    from featlearn.noncontrastive.figures.starts import FIGURES

    frames = {
        "outcomes": read_parquet(job.input.outcomes),
        "diagram": read_parquet(job.input.diagram),
    }
    drawn = FIGURES[job.wildcards.name](frames, job.config)
    save(drawn, job.output.svg, job.output.png)
