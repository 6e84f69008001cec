"""Figures 1 to 4 on images: encoders trained under each augmentation, and what they learned."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from featlearn.contrastive.images.config import HALFWAY, START, arms_of, mapped_arms
from featlearn.contrastive.images.experiment import ImageExperiment, Measured, counts
from featlearn.core.evidence.frames import stacked
from featlearn.core.files import read_tensors
from featlearn.images.saved import described

if TYPE_CHECKING:
    from featlearn.core.run.job import Job
    from featlearn.core.run.outputs import Results

MEASURED = ["data_set", "encoder", "arm", "quantity", "layer", "replicate", "value"]


def data(job: Job) -> Results:
    """Decode a data set of real images; say how many there are of each class."""
    return {"images": counts(ImageExperiment.of(job))}


def train(job: Job) -> Results:
    """Train one encoder on one data set by one arm."""
    experiment, kind, arm = ImageExperiment.of(job), job.wildcards.encoder, job.wildcards.arm
    encoder, history, trace = experiment.fitted(kind, arm)
    return {
        "weights": described(encoder, experiment.plain, arm, job.config),
        "history": experiment.named(history, encoder=kind, arm=arm),
        "trace": experiment.named(trace, encoder=kind, arm=arm),
    }


def responses(job: Job) -> Results:
    """Measure what an encoder knows and responds to, before and after each training."""
    arms = arms_of(job.config, job.wildcards.encoder)
    return stacked(_each_arm(job, arms, Measured.responses))


def maps(job: Job) -> Results:
    """Map the features of an encoder by t-SNE, and measure how far the classes lie apart."""
    arms = mapped_arms(job.config, job.wildcards.encoder)
    return stacked(_each_arm(job, arms, Measured.map))


def _each_arm(
    job: Job, arms: Sequence[str], read: Callable[[Measured], Mapping[str, pd.DataFrame]]
) -> Iterator[dict[str, pd.DataFrame]]:
    """The frames that ``read`` gives of the start and of each arm."""
    experiment, kind = ImageExperiment.of(job), job.wildcards.encoder
    for arm, path in zip((START, *arms), (None, *job.files("weights")), strict=True):
        job.tell(experiment.label(f"{kind} {arm}"))
        own = Measured(experiment, kind, None if path is None else read_tensors(path))
        yield {name: experiment.named(frame, encoder=kind, arm=arm)
               for name, frame in read(own).items()}  # fmt: skip


def gather(job: Job) -> Results:
    """All that was measured, in one frame."""
    moved = halfway_rows(job.frame("traces"))
    result = pd.concat([job.frame("parts"), moved], ignore_index=True)
    return {"evaluations": result[MEASURED]}


def halfway(progress: np.ndarray, distance: np.ndarray) -> float:
    """Share of the training after which filters are nearer to their end than half the way.

    Linear between moments; ``distance`` is that to the end over that at the start, and ends with 0.
    From the last moment at which it was above one half.
    """
    last = int(np.flatnonzero(distance > 0.5).max())
    share = (distance[last] - 0.5) / (distance[last] - distance[last + 1])
    return float(progress[last] + share * (progress[last + 1] - progress[last]))


def halfway_rows(traces: pd.DataFrame) -> pd.DataFrame:
    """:func:`halfway` of every training, with the columns of :data:`MEASURED`."""
    keys = ["data_set", "encoder", "arm", "replicate"]
    rows = [
        (*key, halfway(own["progress"].to_numpy(), own["distance"].to_numpy()))
        for key, own in traces.groupby(keys, sort=False)
    ]
    frame = pd.DataFrame(rows, columns=[*keys, "value"])
    return frame.assign(quantity=HALFWAY, layer="")[MEASURED]
