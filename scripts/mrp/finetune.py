"""Follow fine-tuning step by step: its first step, both update orders, what it does to features."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    device = job.device(job.params.device)
    import pandas as pd

    from featlearn.core.files import read_tensors, write_parquet, write_tensors
    from featlearn.core.progress import Progress
    from featlearn.mrp.experiment import Experiment
    from featlearn.mrp.measure import finetuning_history
    from featlearn.mrp.train import train_classifier

    experiment = Experiment("headline", job.config["headline"], job.params.seed, device)
    options = job.config["finetuning"]
    samples = experiment.train_samples()
    pretrained = read_tensors(job.input.pretrained, device)
    runs = {
        "simultaneous": (pretrained["w"], "simultaneous", options["steps"]),
        "u_then_w": (pretrained["w"], "u_then_w", options["short_steps"]),
        "at_capture": (pretrained["at_capture"], "simultaneous", options["short_steps"]),
    }
    weights, histories = {}, []
    for name, (kernels, order, steps) in runs.items():
        done = train_classifier(
            samples.x,
            samples.y,
            kernels,
            experiment.zero_head(),
            experiment.activation,
            encoder_rate=options["encoder_rate"],
            head_rate=options["head_rate"],
            steps=steps,
            order=order,
            record_every=1,
            features=experiment.features,
            report=Progress(f"{job.rule} {name}", steps).report,
        )
        weights |= {f"{name}.w": done.w, f"{name}.u": done.u}
        histories.append(finetuning_history(done.trace).assign(model=name))
    write_tensors(weights, job.output.weights)
    write_parquet(pd.concat(histories, ignore_index=True), job.output.learning)
