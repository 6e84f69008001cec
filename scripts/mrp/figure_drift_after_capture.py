"""Draw the figure ``drift-after-capture``."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.core.files import read_parquet
    from featlearn.core.plots import save
    from featlearn.mrp.figures.growth import drift_after_capture

    drawn = drift_after_capture(
        read_parquet(job.input.after_capture), read_parquet(job.input.residual_slopes), job.params.q
    )
    save(drawn, job.output.svg, job.output.png)
