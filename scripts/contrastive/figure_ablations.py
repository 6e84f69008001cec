"""Draw the figure ``ablations``."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.contrastive.figures.ablations import ablations
    from featlearn.core.files import read_parquet
    from featlearn.core.plots import save

    drawn = ablations(read_parquet(job.input.evaluation))
    save(drawn, job.output.svg, job.output.png)
