"""Closed forms of expectations against samples, and statements on the data alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from featlearn.contrastive.sampled import sampled_frames
from featlearn.core.seeds import Streams

if TYPE_CHECKING:
    from featlearn.core.job import Job
    from featlearn.core.outputs import Results


def measure(job: Job) -> Results:
    """Compare closed forms of expectations with samples."""
    streams = Streams(job.seed, "contrastive", "identities", range(job.config["replicates"]))
    return {"sampled": pd.concat(sampled_frames(job.config, streams), ignore_index=True)}
