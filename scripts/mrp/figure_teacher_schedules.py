"""Draw the figure ``teacher_schedules``."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.core.files import read_parquet
    from featlearn.core.plots import save
    from featlearn.mrp.figures.runaway import schedules

    save(
        schedules(read_parquet(job.input.history), job.params.varrho),
        job.output.svg,
        job.output.png,
    )
