"""Draw the figure ``growth-laws``."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.core.files import read_parquet
    from featlearn.core.plots import save
    from featlearn.mrp.figures.growth import growth_laws

    drawn = growth_laws(
        read_parquet(job.input.curves),
        read_parquet(job.input.hits),
        job.params.target,
        job.params.varrho,
    )
    save(drawn, job.output.svg, job.output.png)
