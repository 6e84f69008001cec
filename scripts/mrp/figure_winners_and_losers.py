"""Draw the figure ``winners_and_losers``."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.core.files import read_parquet
    from featlearn.core.plots import save
    from featlearn.mrp.figures.teacher_student import winners_and_losers

    drawn = winners_and_losers(
        read_parquet(job.input.growth), read_parquet(job.input.purity), job.params.varrho
    )
    save(drawn, job.output.svg, job.output.png)
