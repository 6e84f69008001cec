"""Measure the arms of the experiment ``stages``: moments, alignment, decoupling, probes."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    device = job.device(job.params.device)
    import pandas as pd

    from featlearn.contrastive.experiment import Downstream, Experiment
    from featlearn.contrastive.measure import EVALUATION_COLUMNS, MOMENT_COLUMNS
    from featlearn.contrastive.runs import arms
    from featlearn.contrastive.stages import (
        DECOUPLING_COLUMNS,
        LABEL_COLUMNS,
        alignment_frame,
        decoupling_rows,
        evaluation_rows,
        label_rows,
        moment_rows,
        moments_of,
    )
    from featlearn.core.files import read_tensors, write_parquet

    config = job.config
    experiment = Experiment("stages", config, job.params.seed, device)
    weights = dict(zip(arms(config), job.files("weights"), strict=True))
    tensors = {name: read_tensors(path, device) for name, path in weights.items()}
    trained = {name: moments_of(each) for name, each in tensors.items()}
    rows, alignment = [], []
    for name, arm in arms(config).items():
        rows += moment_rows(experiment, name, arm, trained[name])
        alignment.append(alignment_frame(experiment, trained[name]).assign(arm=name))
        for moment in ("t1", "t2"):
            times = tensors[name][moment].tolist()
            rows += [(name, moment, r, "step", float(time)) for r, time in enumerate(times)]
    probe = config["probe"]
    downstream = Downstream(experiment, probe["train_samples"], probe["test_samples"])
    models = {"initial": trained["unmasked"]["start"]}
    models |= {name: moments["end"] for name, moments in trained.items()}
    few = {name: models[name] for name in ("masked", "unmasked")}
    evaluation = evaluation_rows(experiment, downstream, models)
    labels = label_rows(downstream, few, probe["labels"])
    decoupling = decoupling_rows(experiment)
    write_parquet(pd.DataFrame(rows, columns=MOMENT_COLUMNS), job.output.moments)
    write_parquet(pd.concat(alignment, ignore_index=True), job.output.alignment)
    write_parquet(pd.DataFrame(evaluation, columns=EVALUATION_COLUMNS), job.output.evaluation)
    write_parquet(pd.DataFrame(labels, columns=LABEL_COLUMNS), job.output.labels)
    write_parquet(pd.DataFrame(decoupling, columns=DECOUPLING_COLUMNS), job.output.decoupling)
