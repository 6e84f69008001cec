"""Draw the figure ``phase-diagram``."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.core.files import read_parquet
    from featlearn.core.plots import save
    from featlearn.mrp.figures.phase_diagram import phase_diagram

    drawn = phase_diagram(read_parquet(job.input.supervised), read_parquet(job.input.pretrained))
    save(drawn, job.output.svg, job.output.png)
