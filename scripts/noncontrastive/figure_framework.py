"""Draw Figure 8: the framework of the experiments on images."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.core.plots import save
    from featlearn.noncontrastive.figures.framework import framework

    save(framework(), job.output.svg, job.output.png)
