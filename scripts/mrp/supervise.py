"""Train the supervised baseline of Lemma 1 (fixed blocks) from the same initial kernels."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    device = job.device(job.params.device)
    from featlearn.core.files import write_parquet, write_tensors
    from featlearn.core.progress import Progress
    from featlearn.mrp.experiment import Experiment
    from featlearn.mrp.measure import learning_history, strength_history
    from featlearn.mrp.model import fixed_block_head
    from featlearn.mrp.train import train_classifier

    experiment = Experiment("headline", job.config, job.params.seed, device)
    samples = experiment.train_samples()
    options = job.config["supervised"]
    head = fixed_block_head(
        experiment.spec.classes, experiment.kernels, job.config["replicates"]
    ).to(device)
    done = train_classifier(
        samples.x,
        samples.y,
        experiment.initial_kernels(),
        head,
        experiment.activation,
        encoder_rate=options["learning_rate"],
        head_rate=0.0,
        steps=options["steps"],
        record_every=options["record_every"],
        features=experiment.features,
        report=Progress(job.rule, options["steps"]).report,
    )
    write_tensors({"w": done.w, "u": done.u}, job.output.weights)
    write_parquet(strength_history(done.trace), job.output.history)
    write_parquet(learning_history(done.trace), job.output.learning)
