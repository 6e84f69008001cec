"""Pre-train one encoder without labels, by one method."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    device = job.device(job.params.device)
    from featlearn.core.files import read_tensors, write_parquet, write_tensors
    from featlearn.core.progress import Progress
    from featlearn.images.plan import Plan, Training
    from featlearn.mrp.images.experiment import PictureExperiment

    method, replicate = job.wildcards.method, int(job.wildcards.replicate)
    experiment = PictureExperiment("images", job.config, job.params.seed, replicate, device)
    settings = job.config["pretraining"][method]
    steps = Plan(Training.of(settings["training"]), len(experiment.train)).steps
    report = Progress(f"{job.rule} {method}-{replicate}", steps).report
    teacher = read_tensors(job.input[0]) if len(job.input) else None
    encoder, history = experiment.pretrain(method, settings, report=report, teacher=teacher)
    write_tensors(encoder.state_dict(), job.output.weights)
    write_parquet(history.assign(method=method, replicate=replicate), job.output.history)
