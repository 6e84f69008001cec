"""Train one network on images with one kind of prediction head, and read it off."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    device = job.device(job.params.device)
    from featlearn.core.files import write_parquet, write_tensors
    from featlearn.core.progress import Progress
    from featlearn.images.plan import Plan, Training
    from featlearn.noncontrastive.images.cells import training_of
    from featlearn.noncontrastive.images.experiment import HeadExperiment
    from featlearn.noncontrastive.images.measure import measure

    name, run = job.wildcards.head_set, job.wildcards.run
    replicate = int(job.wildcards.replicate)
    cache = job.results / job.params.cache
    experiment = HeadExperiment(name, job.config, cache, job.params.seed, replicate, device)
    steps = Plan(Training.of(training_of(run, job.config)), len(experiment.unlabelled)).steps
    progress = Progress(f"{name} {run}-{replicate}", steps)
    network, history = experiment.fit(run, report=progress.report)
    job.tell("linear probe")
    found = measure(experiment, network)
    write_tensors(network.state_dict(), job.output.weights)
    for frame, path in (
        (history, job.output.history),
        (found.quantities, job.output.values),
        (found.histogram, job.output.histogram),
        (found.spectrum, job.output.spectrum),
    ):
        write_parquet(frame.assign(data_set=name, run=run, replicate=replicate), path)
