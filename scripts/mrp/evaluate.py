"""Measure all models of the headline experiment on fresh multi-view and single-view samples."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    device = job.device(job.params.device)
    import pandas as pd

    from featlearn.core.files import read_tensors, write_parquet
    from featlearn.mrp.experiment import Experiment
    from featlearn.mrp.measure import (
        EVALUATION_COLUMNS,
        FEATURE_COLUMNS,
        capture,
        capture_rows,
        feature_rows,
        predict,
        prediction_rows,
    )

    experiment = Experiment("headline", job.config, job.params.seed, device)
    multi = experiment.test_samples(single_view=False)
    single = experiment.test_samples(single_view=True)
    supervised = read_tensors(job.input.supervised, device)
    downstream = read_tensors(job.input.downstream, device)
    models = {"supervised": (supervised["w"], supervised["u"])}
    for name in ("probe", "finetuned", "random_probe", "random_finetuned"):
        models[name] = (downstream[f"{name}.w"], downstream[f"{name}.u"])

    rows, strengths = [], []
    pretrained = read_tensors(job.input.pretrained, device)
    held = capture(pretrained["w"], experiment.features, experiment.activation)
    rows += capture_rows("pretrained", held)
    rows += [
        ("pretrained", replicate, "steps", float(steps))
        for replicate, steps in enumerate(pretrained["stopped"].tolist())
    ]
    strengths += feature_rows("pretrained", held)
    for name, (kernels, head) in models.items():
        held = capture(
            kernels, experiment.features, experiment.activation, by_class=name == "supervised"
        )
        seen = {
            "multi_view": predict(multi, kernels, head, experiment.activation),
            "single_view": predict(single, kernels, head, experiment.activation),
        }
        rows += [*prediction_rows(name, seen), *capture_rows(name, held)]
        strengths += feature_rows(name, held)
    write_parquet(pd.DataFrame(rows, columns=EVALUATION_COLUMNS), job.output.evaluation)
    write_parquet(pd.DataFrame(strengths, columns=FEATURE_COLUMNS), job.output.features)
