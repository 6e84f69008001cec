"""Draw the figure ``fixed-points``."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.core.files import read_parquet
    from featlearn.core.plots import save
    from featlearn.mrp.figures.keep_probability import fixed_points

    drawn = fixed_points(read_parquet(job.input.fixed_points), job.params.varrho)
    save(drawn, job.output.svg, job.output.png)
