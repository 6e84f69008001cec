"""Draw the figure ``first-layer``."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.contrastive.images.figures import first_layer
    from featlearn.core.files import read_parquet
    from featlearn.core.plots import save

    traces, found = read_parquet(job.input.traces), read_parquet(job.input.table)
    save(first_layer(traces, found, job.params.names), job.output.svg, job.output.png)
