"""Draw the figure ``stages``."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    import pandas as pd

    from featlearn.contrastive.figures.stages import stages
    from featlearn.core.files import read_parquet
    from featlearn.core.plots import save

    histories = pd.concat([read_parquet(path) for path in job.files("histories")])
    drawn = stages(histories, read_parquet(job.input.moments))
    save(drawn, job.output.svg, job.output.png)
