"""Train a detector on one encoder, on a data set of real images with boxes."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    device = job.device(job.params.device)
    from featlearn.core.files import read_tensors, write_parquet
    from featlearn.core.progress import Progress
    from featlearn.mrp.images.real import RealExperiment
    from featlearn.mrp.images.real_config import PRETRAINED, method_of
    from featlearn.mrp.images.real_detection import real_precision

    name, start = job.wildcards.image_set, job.wildcards.start
    replicate = int(job.wildcards.replicate)
    cache = job.results / job.params.cache
    experiment = RealExperiment(name, job.config, cache, job.params.seed, replicate, device)
    weights = read_tensors(job.input.weights) if start == PRETRAINED else None

    def reporter(label, steps):
        return Progress(f"{name}-{replicate} {start}, {label}", steps).report

    found = real_precision(experiment, experiment.started(start, weights), reporter)
    method = method_of(job.config, start)
    told = found.assign(data_set=name, start=start, method=method, replicate=replicate)
    write_parquet(told, job.output[0])
