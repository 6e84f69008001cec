"""Put the frames of several jobs below each other."""

from featlearn.core.run.job import Job, read_frame

with Job(snakemake) as job:
    from featlearn.core.errors import FeatlearnError
    from featlearn.core.files import write_parquet

    job.refuse_diverged()
    if not len(job.input):
        raise FeatlearnError(f"rule {job.rule}: no frames to put below each other")
    write_parquet(read_frame([*job.input]), job.output[0])
