"""More atoms: RandomMask at one size, all replicates in one program."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from featlearn.contrastive.experiment import Arm, Downstream, Experiment
from featlearn.contrastive.measure import EVALUATION_COLUMNS, tidy
from featlearn.core.progress import Progress

if TYPE_CHECKING:
    from featlearn.core.job import Job
    from featlearn.core.outputs import Results


def measure(job: Job) -> Results:
    """Train at one number of atoms and see what the features are worth."""
    atoms = job.config["data"]["atoms"]
    experiment = Experiment(f"scaling-{atoms}", job.config, job.seed, job.device)
    downstream = Downstream(experiment)
    arm = Arm.of(job.config)
    steps = arm.training.steps
    done = experiment.train(arm, steps, Progress(f"{job.rule} {atoms} atoms", steps).report)
    rows = [*tidy(downstream.outcome(arm, done), "masked"), *downstream.baselines()]
    return {"sizes": pd.DataFrame(rows, columns=EVALUATION_COLUMNS).assign(atoms=atoms)}
