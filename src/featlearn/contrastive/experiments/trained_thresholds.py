"""Footnote 4: thresholds by gradient descent, with and without RandomMask."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from featlearn.contrastive.experiment import Arm, Downstream, Experiment
from featlearn.contrastive.measure import EVALUATION_COLUMNS, history_frame, tidy
from featlearn.contrastive.train import Thresholds, settings
from featlearn.core.progress import Progress

if TYPE_CHECKING:
    from featlearn.core.job import Job
    from featlearn.core.outputs import Results


def measure(job: Job) -> Results:
    """Train by Algorithm C under both ways of masking."""
    config = job.config
    experiment = Experiment("trained-thresholds", config, job.seed, job.device)
    downstream = Downstream(experiment)
    rule = Thresholds("trained", learning_rate=config["threshold_rate"])
    histories, rows = [], [*downstream.baselines()]
    for name, changes in (("masked", {}), ("unmasked", {"masking": "none"})):
        arm = Arm(settings(config["training"], **changes), rule, config["network"]["norm"])
        report = Progress(f"{job.rule} {name}", arm.training.steps).report
        done = experiment.train(arm, config["record_every"], report)
        histories.append(history_frame(name, done))
        rows += tidy(downstream.outcome(arm, done), name)
    return {
        "history": pd.concat(histories, ignore_index=True),
        "evaluation": pd.DataFrame(rows, columns=EVALUATION_COLUMNS),
    }
