"""Train networks on images with every kind of prediction head side by side, and read them off."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    device = job.device(job.params.device)
    import pandas as pd

    from featlearn.core.files import write_parquet, write_tensors
    from featlearn.core.progress import Progress
    from featlearn.images.plan import Plan, Training
    from featlearn.noncontrastive.images.cells import training_of
    from featlearn.noncontrastive.images.experiment import HeadExperiment
    from featlearn.noncontrastive.images.measure import measure

    name, group, runs = job.wildcards.head_set, job.wildcards.head_group, job.params.runs
    replicate = int(job.wildcards.replicate)
    cache = job.results / job.params.cache
    experiment = HeadExperiment(name, job.config, cache, job.params.seed, replicate, device)
    training = Training.of(training_of(runs[0], job.config))
    steps = Plan(training, len(experiment.unlabelled)).steps
    progress = Progress(f"{name} {group}-{replicate}", steps)
    networks, histories = experiment.fit(runs, report=progress.report)
    found = {what: [] for what in ("history", "values", "histogram", "spectrum")}
    for run, network in networks.items():
        job.tell(f"linear probe: {run}")
        seen = measure(experiment, network)
        frames = (histories[run], seen.quantities, seen.histogram, seen.spectrum)
        for parts, frame in zip(found.values(), frames, strict=True):
            parts.append(frame.assign(data_set=name, run=run, replicate=replicate))
    weights = {
        f"{run}/{key}": tensor
        for run, network in networks.items()
        for key, tensor in network.state_dict().items()
    }
    write_tensors(weights, job.output.weights)
    for what, parts in found.items():
        write_parquet(pd.concat(parts, ignore_index=True), getattr(job.output, what))
