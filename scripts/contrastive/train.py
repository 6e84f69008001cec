"""Train one arm of the experiment ``stages``, all replicates in one program."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    device = job.device(job.params.device)
    from featlearn.contrastive.experiment import Experiment
    from featlearn.contrastive.measure import history_frame
    from featlearn.contrastive.runs import arms, run
    from featlearn.contrastive.stages import weights_of
    from featlearn.core.files import write_parquet, write_tensors
    from featlearn.core.progress import Progress

    name = job.wildcards.arm
    experiment = Experiment("stages", job.config, job.params.seed, device)
    arm = arms(job.config)[name]
    report = Progress(f"{job.rule} {name}", arm.training.steps).report
    done = run(experiment, arm, job.config["record_every"], report)
    write_tensors(weights_of(done), job.output.weights)
    write_parquet(history_frame(name, done.steps, done.history), job.output.history)
