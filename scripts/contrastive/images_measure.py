"""Measure what an encoder knows by each of its trainings, how it fires and what it responds to."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    device = job.device(job.params.device)
    import pandas as pd

    from featlearn.contrastive.images.config import START
    from featlearn.contrastive.images.experiment import ImageExperiment
    from featlearn.contrastive.images.measure import Measured
    from featlearn.core.files import read_tensors, write_parquet

    name, kind = job.wildcards.image_data, job.wildcards.encoder
    replicate, cache = int(job.wildcards.replicate), job.results / job.params.cache
    experiment = ImageExperiment(
        "augmentations", name, job.config, cache, job.params.seed, replicate, device
    )
    weights = {START: None} | dict(zip(job.params.arms, job.files("weights"), strict=True))
    found = {what: [] for what in ("evaluation", "patterns", "pictures")}
    for arm, path in weights.items():
        job.tell(f"{name} {kind} {arm}-{replicate}")
        own = Measured(experiment, kind, None if path is None else read_tensors(path))
        frames = {
            "evaluation": own.rows(), "patterns": own.patterns(), "pictures": own.pictures()
        }  # fmt: skip
        told = {"data_set": name, "encoder": kind, "arm": arm, "replicate": replicate}
        for what, frame in frames.items():
            found[what].append(frame.assign(**told))
    for what, parts in found.items():
        write_parquet(pd.concat(parts, ignore_index=True), getattr(job.output, what))
