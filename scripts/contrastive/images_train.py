"""Train one encoder on one data set by one arm."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    device = job.device(job.params.device)
    from featlearn.contrastive.images.experiment import ImageExperiment
    from featlearn.core.files import write_parquet, write_tensors
    from featlearn.core.progress import Progress
    from featlearn.images.plan import Plan, Training

    name, kind, arm = (job.wildcards[key] for key in ("image_data", "encoder", "arm"))
    replicate, cache = int(job.wildcards.replicate), job.results / job.params.cache
    experiment = ImageExperiment(
        "augmentations", name, job.config, cache, job.params.seed, replicate, device
    )
    steps = Plan(Training.of(experiment.training(arm)), len(experiment.train.images)).steps
    report = Progress(f"{name} {kind} {arm}-{replicate}", steps).report
    encoder, history, trace = experiment.fitted(kind, arm, report=report)
    told = {"data_set": name, "encoder": kind, "arm": arm, "replicate": replicate}
    write_tensors(encoder.state_dict(), job.output.weights)
    write_parquet(history.assign(**told), job.output.history)
    write_parquet(trace.assign(**told), job.output.trace)
