"""Change one thing at a time: every arm sees the same dictionaries, weights, samples and masks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from featlearn.contrastive.data import SparseCoding
from featlearn.contrastive.experiment import Arm, Downstream, Experiment
from featlearn.contrastive.measure import quantity_frame
from featlearn.core.run.config import merge

if TYPE_CHECKING:
    from featlearn.core.run.job import Job
    from featlearn.core.run.outputs import Results


def measure(job: Job) -> Results:
    """Train arms that differ in one thing; a model ``arm/raw`` is a baseline on the arm's data."""
    evaluation, shared = [], {key: job.config[key] for key in job.config if key != "arms"}
    # arms with the same data have the same tasks and baselines
    tasks: dict[SparseCoding, tuple[Downstream, pd.DataFrame]] = {}
    for name in job.config["arms"]:
        config = merge(shared, job.config["arms"][name])
        experiment = Experiment("ablations", config, job.seed, job.device)
        arm = Arm.of(config)
        if experiment.spec not in tasks:
            downstream = Downstream(experiment)
            tasks[experiment.spec] = downstream, downstream.baselines()
        downstream, baselines = tasks[experiment.spec]
        done = experiment.train(arm, arm.training.steps, f"{job.rule} {name}")
        evaluation.append(quantity_frame(downstream.outcome(arm, done), model=name))
        evaluation.append(baselines.assign(model=f"{name}/" + baselines["model"]))
    return {"evaluation": pd.concat(evaluation, ignore_index=True)}
