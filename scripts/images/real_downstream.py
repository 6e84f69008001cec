"""Probe and fine-tune one encoder on a data set of real images, with many and with few labels."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    device = job.device(job.params.device)
    from featlearn.core.files import read_tensors, write_parquet, write_tensors
    from featlearn.core.progress import Progress
    from featlearn.mrp.images.real import RealExperiment
    from featlearn.mrp.images.real_config import PRETRAINED, method_of

    name, start = job.wildcards.image_set, job.wildcards.start
    replicate = int(job.wildcards.replicate)
    cache = job.results / job.params.cache
    experiment = RealExperiment(name, job.config, cache, job.params.seed, replicate, device)
    weights = read_tensors(job.input.weights) if start == PRETRAINED else None

    def reporter(label, steps):
        return Progress(f"{name}-{replicate} {start}, {label}", steps).report

    found, trained = experiment.evaluate(
        lambda: experiment.started(start, weights), job.tell, reporter
    )
    method = method_of(job.config, start)
    told = found.assign(data_set=name, start=start, method=method, replicate=replicate)
    write_tensors(trained, job.output.weights)
    write_parquet(told, job.output.evaluation)
