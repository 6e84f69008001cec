"""Pre-train an encoder on a data set of real images, without labels."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    device = job.device(job.params.device)
    from featlearn.core.files import write_parquet, write_tensors
    from featlearn.core.progress import Progress
    from featlearn.mrp.images.real import RealExperiment

    name, replicate = job.wildcards.image_set, int(job.wildcards.replicate)
    cache = job.results / job.params.cache
    experiment = RealExperiment(name, job.config, cache, job.params.seed, replicate, device)

    def reporter(label, steps):
        return Progress(f"{name}-{replicate} {label}", steps).report

    encoder, history = experiment.pretrain(reporter=reporter)
    write_tensors(encoder.state_dict(), job.output.weights)
    write_parquet(history.assign(data_set=name, replicate=replicate), job.output.history)
