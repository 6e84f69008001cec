"""Which parts the classifiers of the comparison use."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from featlearn.core.files import read_tensors
from featlearn.mrp.images.cams import erasures_of_tests, measured, trained_classifier
from featlearn.mrp.images.experiment import experiment_of

if TYPE_CHECKING:
    from featlearn.core.run.job import Job
    from featlearn.core.run.outputs import Results


def measure(job: Job) -> Results:
    """Count which parts the classifiers of one replicate use."""
    experiment = experiment_of(job)
    tests = erasures_of_tests(experiment, job.params.pictures)
    frames: list[pd.DataFrame] = []
    encoders = job.params.encoders.items()
    for file, (start, kind) in zip(job.files("classifiers"), encoders, strict=True):
        job.tell(start)
        weights = read_tensors(file)
        for labels in job.params.labels:
            classifier = trained_classifier(experiment, kind, weights, labels)
            about = {"start": start, "encoder": kind, "labels": labels,
                     "replicate": experiment.replicate}  # fmt: skip
            values = measured(experiment, classifier, tests, job.params.map_cell)
            frames.append(values.assign(**about))
    return {"values": pd.concat(frames, ignore_index=True)}
