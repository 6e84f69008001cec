"""Which parts the classifiers of the comparison use."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from featlearn.core.files import read_tensors
from featlearn.mrp.images.cams import erasures_of_tests, measured, readings, trained_classifier
from featlearn.mrp.images.experiment import experiment_of

if TYPE_CHECKING:
    from featlearn.core.job import Job
    from featlearn.core.outputs import Results


def measure(job: Job) -> Results:
    """Count which parts the classifiers of one replicate use."""
    experiment = experiment_of(job)
    tests = erasures_of_tests(experiment, job.params.pictures)
    frames: dict[str, list[pd.DataFrame]] = {"values": [], "readings": []}
    encoders = job.params.encoders.items()
    for file, (start, kind) in zip(job.files("classifiers"), encoders, strict=True):
        job.tell(start)
        weights = read_tensors(file)
        for labels in job.params.labels:
            classifier = trained_classifier(experiment, kind, weights, labels)
            about = {"start": start, "encoder": kind, "labels": labels,
                     "replicate": experiment.replicate}  # fmt: skip
            cell = job.params.map_cell
            made = {"values": measured(experiment, classifier, tests, cell)}
            if labels == max(job.params.labels):
                made["readings"] = readings(experiment, classifier, tests[0], cell)
            for name, frame in made.items():
                frames[name].append(frame.assign(**about))
    return {name: pd.concat(each, ignore_index=True) for name, each in frames.items()}
