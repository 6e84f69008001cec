"""Pre-train encoders by mask reconstruction, all replicates in one program."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    device = job.device(job.params.device)
    from featlearn.core.files import write_parquet, write_tensors
    from featlearn.core.progress import Progress
    from featlearn.mrp.experiment import Experiment
    from featlearn.mrp.measure import strength_history
    from featlearn.mrp.train import pretrain_mae

    experiment = Experiment("headline", job.config, job.params.seed, device)
    options = job.config["pretraining"]
    done = pretrain_mae(
        experiment.train_samples().x,
        experiment.features,
        experiment.initial_kernels(),
        experiment.activation,
        **options,
        report=Progress(job.rule, options["max_steps"]).report,
    )
    write_tensors({"w": done.w, "hit": done.hit, "stopped": done.stopped}, job.output.weights)
    write_parquet(strength_history(done.trace), job.output.history)
