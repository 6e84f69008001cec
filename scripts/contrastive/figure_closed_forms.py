"""Draw the figure ``closed-forms``."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.contrastive.figures.closed_forms import closed_forms
    from featlearn.core.files import read_parquet
    from featlearn.core.plots import save

    drawn = closed_forms(read_parquet(job.input.sampled))
    save(drawn, job.output.svg, job.output.png)
