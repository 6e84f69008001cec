"""Draw the figure ``lottery-and-classes``."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.core.files import read_parquet
    from featlearn.core.plots import save
    from featlearn.mrp.figures.classes import lottery_and_classes

    # when the headline ends its supervised training, in the units of the figure
    headline = job.params.headline
    supervised = headline["supervised"]
    ends = supervised["steps"] * supervised["learning_rate"] / headline["data"]["classes"]
    drawn = lottery_and_classes(
        read_parquet(job.input.classes), read_parquet(job.input.length), ends
    )
    save(drawn, job.output.svg, job.output.png)
