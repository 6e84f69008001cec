"""Draw the figure ``sweeps``."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    import pandas as pd

    from featlearn.core.files import read_parquet
    from featlearn.core.plots import save
    from featlearn.mrp.figures.sweeps import sigma_sweep, sweeps

    alone = [read_parquet(file) for file in job.files("sweeps")]
    grid = [read_parquet(file) for file in job.files("grid")]
    save(sweeps(pd.concat([*alone, sigma_sweep(pd.concat(grid))])), job.output.svg, job.output.png)
