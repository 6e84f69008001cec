"""Put the frames of several jobs below each other."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    import pandas as pd

    from featlearn.core.errors import FeatlearnError
    from featlearn.core.files import read_parquet, write_parquet

    job.refuse_diverged()
    if not len(job.input):
        raise FeatlearnError(f"rule {job.rule}: no frames to put below each other")
    frames = [read_parquet(path) for path in job.input]
    write_parquet(pd.concat(frames, ignore_index=True), job.output[0])
