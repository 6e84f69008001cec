"""Draw the figure ``induction``."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.core.files import read_parquet
    from featlearn.core.plots import save
    from featlearn.mrp.figures.purity import induction

    drawn = induction(
        read_parquet(job.input.purity),
        job.config["network"]["sigma_0"],
        job.config["data"]["feature_noise"],
        job.config["data"]["classes"],
    )
    save(drawn, job.output.svg, job.output.png)
