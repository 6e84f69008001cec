"""Footnote 4: thresholds by gradient descent, with and without RandomMask."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from featlearn.contrastive.experiment import Arm, Downstream, Experiment
from featlearn.contrastive.measure import history_frame, quantity_frame
from featlearn.contrastive.train import Thresholds, settings

if TYPE_CHECKING:
    from featlearn.core.run.job import Job
    from featlearn.core.run.outputs import Results


def measure(job: Job) -> Results:
    """Train by Algorithm C under both ways of masking."""
    config = job.config
    experiment = Experiment("trained-thresholds", config, job.seed, job.device)
    downstream = Downstream(experiment)
    rule = Thresholds("trained", learning_rate=config["threshold_rate"])
    histories, evaluation = [], [downstream.baselines()]
    for name, changes in (("masked", {}), ("unmasked", {"masking": "none"})):
        arm = Arm(settings(config["training"], **changes), rule, config["network"]["norm"])
        done = experiment.train(arm, config["record_every"], f"{job.rule} {name}")
        histories.append(history_frame(name, done))
        evaluation.append(quantity_frame(downstream.outcome(arm, done), model=name))
    frames = {"history": histories, "evaluation": evaluation}
    return {name: pd.concat(parts, ignore_index=True) for name, parts in frames.items()}
