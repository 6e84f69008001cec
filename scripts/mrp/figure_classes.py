"""Draw the figure ``lottery-and-classes``."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.core.files import read_parquet
    from featlearn.core.plots import save
    from featlearn.mrp.figures.classes import lottery_and_classes

    drawn = lottery_and_classes(
        read_parquet(job.input.classes), read_parquet(job.input.length), job.params.headline_time
    )
    save(drawn, job.output.svg, job.output.png)
