"""Put a new linear head on pre-trained and on random kernels: probe and fine-tune both."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    device = job.device(job.params.device)
    import pandas as pd

    from featlearn.core.files import read_tensors, write_parquet, write_tensors
    from featlearn.core.progress import Progress
    from featlearn.mrp.experiment import Experiment
    from featlearn.mrp.measure import learning_history
    from featlearn.mrp.train import train_classifier

    experiment = Experiment("headline", job.config, job.params.seed, device)
    samples = experiment.train_samples()
    pretrained = read_tensors(job.input.pretrained, device)["w"]
    initial = experiment.initial_kernels()
    starts = {
        "probe": (pretrained, "probe"),
        "finetuned": (pretrained, "finetuning"),
        "random_probe": (initial, "probe"),
        "random_finetuned": (initial, "finetuning"),
    }
    weights, histories = {}, []
    for model, (kernels, recipe) in starts.items():
        options = job.config[recipe]
        done = train_classifier(
            samples.x,
            samples.y,
            kernels,
            experiment.zero_head(),
            experiment.activation,
            encoder_rate=options.get("encoder_rate", 0.0),
            head_rate=options["head_rate"],
            steps=options["steps"],
            record_every=options["record_every"],
            features=experiment.features,
            report=Progress(f"{job.rule} {model}", options["steps"]).report,
        )
        weights |= {f"{model}.w": done.w, f"{model}.u": done.u}
        histories.append(learning_history(done.trace).assign(model=model))
    write_tensors(weights, job.output.weights)
    write_parquet(pd.concat(histories, ignore_index=True), job.output.learning)
