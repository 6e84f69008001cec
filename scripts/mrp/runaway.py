"""Teacher-student training beyond capture, under every schedule of the teacher factor."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    device = job.device(job.params.device)
    import pandas as pd

    from featlearn.core.files import write_parquet
    from featlearn.mrp.experiment import Experiment
    from featlearn.mrp.measure import EVALUATION_COLUMNS
    from featlearn.mrp.runaway import beyond_capture, follow_largest, history, outcome_rows

    experiment = Experiment("runaway", job.config, job.params.seed, device)
    samples = experiment.train_samples()
    options = dict(job.config["pretraining"])
    schedules, followed = options.pop("schedules"), options.pop("followed")
    histories, outcome, pairs = [], [], None
    for schedule in schedules:
        done = beyond_capture(experiment, samples, schedule, options)
        histories.append(history(done, schedule))
        outcome += outcome_rows(done, schedule, job.config["network"]["sigma_0"])
        if schedule == followed:
            pairs, seen = follow_largest(experiment, samples, done, schedule, options)
            outcome += seen
    write_parquet(pd.concat(histories, ignore_index=True), job.output.history)
    write_parquet(pd.DataFrame(outcome, columns=EVALUATION_COLUMNS), job.output.outcome)
    write_parquet(pairs, job.output.pair)
