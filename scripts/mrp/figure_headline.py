"""Draw the figure ``headline``."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.core.files import read_parquet
    from featlearn.core.plots import save
    from featlearn.mrp.figures.headline import headline

    save(headline(read_parquet(job.input.evaluation)), job.output.svg, job.output.png)
