"""Draw the figure ``feature_growth``."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.core.files import read_parquet
    from featlearn.core.plots import save
    from featlearn.mrp.figures.headline import feature_growth

    drawn = feature_growth(
        read_parquet(job.input.supervised), read_parquet(job.input.pretrained), job.params.varrho
    )
    save(drawn, job.output.svg, job.output.png)
