"""Draw the figure ``scaling``."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    import pandas as pd

    from featlearn.contrastive.figures.scaling import scaling
    from featlearn.core.files import read_parquet
    from featlearn.core.plots import save

    drawn = scaling(pd.concat([read_parquet(path) for path in job.files("sizes")]))
    save(drawn, job.output.svg, job.output.png)
