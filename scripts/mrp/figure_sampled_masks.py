"""Draw the figure ``sampled_masks``."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.core.files import read_parquet
    from featlearn.core.plots import save
    from featlearn.mrp.figures.sampled_masks import sampled_masks

    save(sampled_masks(read_parquet(job.input.errors)), job.output.svg, job.output.png)
