"""Draw the figure ``localisation``."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.core.files import read_parquet
    from featlearn.core.plots import save
    from featlearn.mrp.figures.localisation import localisation

    drawn = localisation(read_parquet(job.input.localisation), read_parquet(job.input.patches))
    save(drawn, job.output.svg, job.output.png)
