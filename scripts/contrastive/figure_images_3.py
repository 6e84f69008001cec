"""Draw Figure 3."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.contrastive.images.figures import by_arm, fig_3
    from featlearn.core.files import read_parquet
    from featlearn.core.plots import save

    maps = by_arm([read_parquet(path) for path in job.files("shown")])
    drawn = fig_3(read_parquet(job.input.table), maps, job.params.names)
    save(drawn, job.output.svg, job.output.png)
