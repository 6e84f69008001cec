"""Draw the figure ``captured_features``."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.core.files import read_parquet
    from featlearn.core.plots import save
    from featlearn.mrp.figures.headline import captured_features

    save(
        captured_features(read_parquet(job.input.features), job.params.varrho),
        job.output.svg,
        job.output.png,
    )
