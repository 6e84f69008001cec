"""Draw Figure 6 of the paper: a sample, and the two views that share no patch."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.core.plots import save
    from featlearn.noncontrastive.figures.schematic import sample_and_views

    save(sample_and_views(), job.output.svg, job.output.png)
