"""Change one thing at a time: every arm sees the same dictionaries, weights, samples and masks."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    device = job.device(job.params.device)
    import pandas as pd

    from featlearn.contrastive.experiment import Downstream, Experiment
    from featlearn.contrastive.measure import EVALUATION_COLUMNS, history_frame, tidy
    from featlearn.contrastive.runs import arm_config, arm_of, baselines, outcome, run
    from featlearn.core.files import write_parquet
    from featlearn.core.progress import Progress

    histories, rows = [], []
    for name in job.config["arms"]:
        config = arm_config(job.config, name)
        experiment = Experiment("ablations", config, job.params.seed, device)
        probe = config["probe"]
        downstream = Downstream(experiment, probe["train_samples"], probe["test_samples"])
        arm = arm_of(config)
        report = Progress(f"{job.rule} {name}", arm.training.steps).report
        done = run(experiment, arm, config["record_every"], report)
        histories.append(history_frame(name, done.steps, done.history))
        rows += tidy(outcome(experiment, arm, done, downstream), name)
        for model, *rest in baselines(experiment, downstream):
            rows.append((f"{name}/{model}", *rest))
    write_parquet(pd.concat(histories, ignore_index=True), job.output.history)
    write_parquet(pd.DataFrame(rows, columns=EVALUATION_COLUMNS), job.output.evaluation)
