"""Draw the figure ``hitting-times``."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.core.files import read_parquet
    from featlearn.core.plots import save
    from featlearn.mrp.figures.growth import hitting_times

    drawn = hitting_times(read_parquet(job.input.hits))
    save(drawn, job.output.svg, job.output.png)
