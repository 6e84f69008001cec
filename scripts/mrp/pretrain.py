"""Pre-train encoders by mask reconstruction, all replicates in one program."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    device = job.device(job.params.device)
    from featlearn.core.files import write_parquet, write_tensors
    from featlearn.core.progress import Progress
    from featlearn.mrp.experiment import Experiment
    from featlearn.mrp.measure import strength_history
    from featlearn.mrp.train import MaskedAutoencoder, pretrain

    experiment = Experiment("headline", job.config, job.params.seed, device)
    options = dict(job.config["pretraining"])
    method = MaskedAutoencoder(experiment.activation, options.pop("theta"))
    done = pretrain(
        experiment.train_samples().x,
        experiment.features,
        experiment.initial_kernels(),
        method,
        varrho=experiment.activation.varrho,
        **options,
        report=Progress(job.rule, options["max_steps"]).report,
    )
    weights = {"w": done.w, "at_capture": done.at_capture}
    write_tensors({**weights, "hit": done.hit, "stopped": done.stopped}, job.output.weights)
    write_parquet(strength_history(done.trace), job.output.history)
