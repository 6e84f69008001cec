"""Figures 1 to 4 on images: encoders trained under each augmentation, and what they learned."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from featlearn.contrastive.images.config import HALFWAY, START, arms_of, mapped_arms
from featlearn.contrastive.images.experiment import ImageExperiment, Measured
from featlearn.contrastive.images.experiment import counts as class_counts
from featlearn.core.files import read_tensors
from featlearn.core.progress import Progress
from featlearn.images.saved import described
from featlearn.images.train.plan import Plan, Training

if TYPE_CHECKING:
    from featlearn.core.job import Job
    from featlearn.core.outputs import Results

MEASURED = ["data_set", "encoder", "arm", "quantity", "layer", "replicate", "value"]


def _experiment(job: Job, replicate: int) -> ImageExperiment:
    cache = job.results / job.params.cache
    return ImageExperiment(
        "augmentations",
        job.wildcards.image_data,
        job.config,
        cache,
        job.seed,
        replicate,
        job.device,
    )


def data(job: Job) -> Results:
    """Decode a data set of real images; say how many there are of each class."""
    return {"images": class_counts(_experiment(job, 0))}


def train(job: Job) -> Results:
    """Train one encoder on one data set by one arm."""
    name, kind, arm = (job.wildcards[key] for key in ("image_data", "encoder", "arm"))
    replicate = int(job.wildcards.replicate)
    experiment = _experiment(job, replicate)
    steps = Plan(Training.of(experiment.training(arm)), len(experiment.images.train.images)).steps
    report = Progress(f"{name} {kind} {arm}-{replicate}", steps).report
    encoder, history, trace = experiment.fitted(kind, arm, report=report)
    labels = {"data_set": name, "encoder": kind, "arm": arm, "replicate": replicate}
    return {
        "weights": described(encoder, experiment.augment("none"), arm, job.config),
        "history": history.assign(**labels),
        "trace": trace.assign(**labels),
    }


def responses(job: Job) -> Results:
    """Measure what an encoder knows and responds to, before and after each training."""
    result = _each_arm(job, arms_of(job.config, job.wildcards.encoder), _responses)
    return dict(zip(("evaluation", "patterns", "pictures"), result, strict=True))


def maps(job: Job) -> Results:
    """Map the features of an encoder by t-SNE, and measure how far the classes lie apart."""
    result = _each_arm(job, mapped_arms(job.config, job.wildcards.encoder), Measured.map)
    return dict(zip(("map", "separation"), result, strict=True))


def _responses(own: Measured) -> tuple[pd.DataFrame, ...]:
    return own.rows(), own.patterns(), own.pictures()


def _each_arm(
    job: Job, arms: Sequence[str], read: Callable[[Measured], tuple[pd.DataFrame, ...]]
) -> list[pd.DataFrame]:
    """The frames that ``read`` gives of the start and of each arm, those of all arms in one."""
    name, kind = job.wildcards.image_data, job.wildcards.encoder
    replicate = int(job.wildcards.replicate)
    experiment = _experiment(job, replicate)
    result = []
    for arm, path in zip((START, *arms), (None, *job.files("weights")), strict=True):
        job.tell(f"{name} {kind} {arm}-{replicate}")
        weights = None if path is None else read_tensors(path)
        labels = {"data_set": name, "encoder": kind, "arm": arm, "replicate": replicate}
        own = Measured(experiment, kind, weights)
        result.append([frame.assign(**labels) for frame in read(own)])
    return [pd.concat(frames, ignore_index=True) for frames in zip(*result, strict=True)]


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
