"""One parameter at a time: q, kernels a class, feature noise, theta.

The sweep over sigma_0 is a column of the phase diagram.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from featlearn.core.progress import Progress
from featlearn.mrp.comparison import MEASURED, capture_time_rows
from featlearn.mrp.sweep import Batch, at

if TYPE_CHECKING:
    from featlearn.core.job import Job
    from featlearn.core.outputs import Results


def train(job: Job) -> Results:
    """Vary one parameter at a time, the others as they are, for one kind of network."""
    model = job.wildcards.model
    measured = MEASURED[model]
    frames = []
    for parameter, points in job.config["points"].items():
        if parameter == "theta" and model == "supervised":
            continue  # nothing is masked there
        for value in points:
            cell = at(job.config, **{parameter: value})
            batch = Batch("sweeps", [cell], job.seed, job.device)
            progress = Progress(f"{job.rule}, {parameter} = {value}", measured.most_steps(cell))
            rows = measured.rows(batch, cell, progress.report)
            if model == "pretrained":
                rows += capture_time_rows(batch, cell, progress.report)
            frame = batch.frame(rows, [])
            frame.insert(0, "parameter", parameter)
            frame.insert(1, "at", float(value))
            frames.append(frame)
    return {"points": pd.concat(frames, ignore_index=True)}
