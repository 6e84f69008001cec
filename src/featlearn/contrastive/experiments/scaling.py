"""More atoms: with raised thresholds, RandomMask and no mask at one size, to ten times T2."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pandas as pd

from featlearn.contrastive.experiment import Arm, Downstream, Experiment
from featlearn.contrastive.measure import history_frame, quantity_frame

if TYPE_CHECKING:
    from featlearn.core.run.job import Job
    from featlearn.core.run.outputs import Results

#: Records of a course.
RECORDS = 12


def measure(job: Job) -> Results:
    """Train with and without the mask at one number of atoms; probe the features as they change."""
    atoms = job.config["data"]["atoms"]
    experiment = Experiment(f"scaling-{atoms}", job.config, job.seed, job.device)
    downstream = Downstream(experiment)
    masked = Arm.of(job.config)
    steps = masked.training.steps
    frames, histories = [downstream.baselines()], []
    unmasked = masked._replace(training=replace(masked.training, masking="none"))
    arms, every = {"masked": masked, "unmasked": unmasked}, max(1, steps // RECORDS)
    for name in [name for name in arms if name in job.config["arms"]]:
        arm, label = arms[name], f"{job.rule} {name} {atoms} atoms"
        done = experiment.train(arm, every, label, downstream)
        frames.append(quantity_frame(downstream.outcome(arm, done), model=name))
        histories.append(history_frame(name, done))
    both = {"sizes": frames, "courses": histories}
    return {name: pd.concat(parts, ignore_index=True).assign(atoms=atoms)
            for name, parts in both.items()}  # fmt: skip
