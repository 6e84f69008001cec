"""Draw Figure 4."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.contrastive.images.figures import by_arm, fig_4
    from featlearn.core.files import read_parquet
    from featlearn.core.plots import save

    patterns = by_arm([read_parquet(path) for path in job.files("shown")])
    drawn = fig_4(read_parquet(job.input.table), patterns, job.params.names)
    save(drawn, job.output.svg, job.output.png)
