"""Train one network of Figure 5, adversarially, with or without a prediction head."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    device = job.device(job.params.device)
    from featlearn.core.files import write_parquet, write_tensors
    from featlearn.core.progress import Progress
    from featlearn.images.plan import Plan, Training
    from featlearn.noncontrastive.images.experiment import HeadExperiment

    name, arm = job.wildcards.head_set, job.wildcards.robust_arm
    replicate, cache = int(job.wildcards.replicate), job.results / job.params.cache
    experiment = HeadExperiment(name, job.config, cache, job.params.seed, replicate, device)
    training = Training.of(job.config["robust"]["training"])
    steps = Plan(training, len(experiment.unlabelled)).steps
    progress = Progress(f"{name} {arm}-{replicate}", steps)
    network, history = experiment.fit_robust(arm, report=progress.report)
    write_tensors(network.state_dict(), job.output.weights)
    write_parquet(history.assign(data_set=name, run=arm, replicate=replicate), job.output.history)
