"""Where the supervised lottery is, and where not: initial correlation x single-view share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from featlearn.core.progress import Progress
from featlearn.mrp.comparison import MEASURED
from featlearn.mrp.sweep import Batch, at

if TYPE_CHECKING:
    from featlearn.core.job import Job
    from featlearn.core.outputs import Results


def train(job: Job) -> Results:
    """Train one kind of network at every cell of the phase diagram and measure it."""
    grid, measured = job.config["grid"], MEASURED[job.wildcards.model]
    frames = []
    # the shares of single-view data train together; a larger sigma_0 ends much sooner
    for sigma_0 in grid["sigma_0"]:
        cells = [
            at(job.config, sigma_0=sigma_0, single_view_share=share)
            for share in grid["single_view_share"]
        ]
        batch = Batch("phase-diagram", cells, job.seed, job.device)
        progress = Progress(f"{job.rule}, sigma_0 = {sigma_0}", measured.most_steps(job.config))
        rows = measured.rows(batch, job.config, progress.report)
        frames.append(batch.frame(rows, ["sigma_0", "single_view_share"]))
    return {"cells": pd.concat(frames, ignore_index=True)}
