"""Draw the figure ``images-phase-diagram``."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.core.files import read_parquet
    from featlearn.core.plots import save
    from featlearn.mrp.images.figures import phase_diagram

    save(phase_diagram(read_parquet(job.input[0])), job.output.svg, job.output.png)
