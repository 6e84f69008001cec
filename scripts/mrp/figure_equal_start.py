"""Draw the figure ``equal_start``."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.core.files import read_parquet
    from featlearn.core.plots import save
    from featlearn.mrp.figures.equal_start import equal_start

    drawn = equal_start(read_parquet(job.input.table), job.params.thetas)
    save(drawn, job.output.svg, job.output.png)
