"""More atoms: with raised thresholds, RandomMask and no mask at one size."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pandas as pd

from featlearn.contrastive.experiment import Arm, Downstream, Experiment
from featlearn.contrastive.measure import EVALUATION_COLUMNS, tidy
from featlearn.core.progress import Progress

if TYPE_CHECKING:
    from featlearn.core.job import Job
    from featlearn.core.outputs import Results


def measure(job: Job) -> Results:
    """Train with and without the mask, all else the same; see what the features are worth."""
    atoms = job.config["data"]["atoms"]
    experiment = Experiment(f"scaling-{atoms}", job.config, job.seed, job.device)
    downstream = Downstream(experiment)
    masked = Arm.of(job.config)
    steps = masked.training.steps
    rows = [*downstream.baselines()]
    for name, training in (
        ("masked", masked.training),
        ("unmasked", replace(masked.training, masking="none")),
    ):
        arm = masked._replace(training=training)
        report = Progress(f"{job.rule} {name} {atoms} atoms", steps).report
        rows += tidy(downstream.outcome(arm, experiment.train(arm, steps, report)), name)
    return {"sizes": pd.DataFrame(rows, columns=EVALUATION_COLUMNS).assign(atoms=atoms)}
