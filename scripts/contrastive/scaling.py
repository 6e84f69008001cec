"""Train with RandomMask at one number of atoms, all replicates in one program."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    device = job.device(job.params.device)
    import pandas as pd

    from featlearn.contrastive.experiment import Downstream, Experiment
    from featlearn.contrastive.measure import EVALUATION_COLUMNS, tidy
    from featlearn.contrastive.runs import arm_of, baselines, outcome, run
    from featlearn.core.files import write_parquet
    from featlearn.core.progress import Progress

    config = job.config
    atoms = config["data"]["atoms"]
    experiment = Experiment(f"scaling-{atoms}", config, job.params.seed, device)
    probe = config["probe"]
    downstream = Downstream(experiment, probe["train_samples"], probe["test_samples"])
    arm = arm_of(config)
    report = Progress(f"{job.rule} {atoms} atoms", arm.training.steps).report
    done = run(experiment, arm, arm.training.steps, report)
    rows = [*tidy(outcome(experiment, arm, done, downstream), "masked")]
    rows += baselines(experiment, downstream)
    frame = pd.DataFrame(rows, columns=EVALUATION_COLUMNS)
    write_parquet(frame.assign(atoms=atoms), job.output[0])
