"""Read off an encoder, at its start and after its trainings, what the rule names."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    device = job.device(job.params.device)
    from featlearn.contrastive.images.config import START
    from featlearn.contrastive.images.experiment import ImageExperiment
    from featlearn.contrastive.images.measure import of_all_arms
    from featlearn.core.files import write_parquet

    name, replicate = job.wildcards.image_data, int(job.wildcards.replicate)
    cache = job.results / job.params.cache
    experiment = ImageExperiment(
        "augmentations", name, job.config, cache, job.params.seed, replicate, device
    )
    weights = {START: None} | dict(zip(job.params.arms, job.files("weights"), strict=True))
    found = of_all_arms(experiment, job.wildcards.encoder, weights, job.params.what, job.tell)
    for what, frame in found.items():
        write_parquet(frame, getattr(job.output, what))
