"""Decode a data set of real images; say how many there are of each class."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    job.device("cpu")
    from featlearn.contrastive.images.experiment import ImageExperiment, counts
    from featlearn.core.files import write_parquet

    name, cache = job.wildcards.image_data, job.results / job.params.cache
    experiment = ImageExperiment("augmentations", name, job.config, cache, job.params.seed, 0)
    write_parquet(counts(experiment), job.output[0])
