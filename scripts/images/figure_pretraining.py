"""Draw the figure ``images-pretraining``."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    import pandas as pd

    from featlearn.core.files import read_parquet
    from featlearn.core.plots import save
    from featlearn.mrp.images.figures import pretraining

    frames = [read_parquet(path) for path in job.input]
    save(pretraining(pd.concat(frames, ignore_index=True)), job.output.svg, job.output.png)
