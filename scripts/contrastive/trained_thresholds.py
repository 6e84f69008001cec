"""Train thresholds by gradient descent, with and without RandomMask (footnote 4)."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    device = job.device(job.params.device)
    import pandas as pd

    from featlearn.contrastive.experiment import Downstream, Experiment
    from featlearn.contrastive.measure import EVALUATION_COLUMNS, history_frame, tidy
    from featlearn.contrastive.runs import baselines, outcome, run, trained_threshold_arms
    from featlearn.core.files import write_parquet
    from featlearn.core.progress import Progress

    config = job.config
    experiment = Experiment("trained-thresholds", config, job.params.seed, device)
    probe = config["probe"]
    downstream = Downstream(experiment, probe["train_samples"], probe["test_samples"])
    histories, rows = [], list(baselines(experiment, downstream))
    for name, arm in trained_threshold_arms(config).items():
        report = Progress(f"{job.rule} {name}", arm.training.steps).report
        done = run(experiment, arm, config["record_every"], report)
        histories.append(history_frame(name, done.steps, done.history))
        rows += tidy(outcome(experiment, arm, done, downstream), name)
    write_parquet(pd.concat(histories, ignore_index=True), job.output.history)
    write_parquet(pd.DataFrame(rows, columns=EVALUATION_COLUMNS), job.output.evaluation)
