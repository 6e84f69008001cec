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
    values: list[pd.DataFrame] = []
    by_part: list[pd.DataFrame] = []
    read: list[pd.DataFrame] = []
    encoders = job.params.encoders.items()
    for file, (start, kind) in zip(job.files("classifiers"), encoders, strict=True):
        job.tell(start)
        weights = read_tensors(file)
        for labels in job.params.labels:
            classifier = trained_classifier(experiment, kind, weights, labels)
            about = {"start": start, "encoder": kind, "labels": labels,
                     "replicate": experiment.replicate}  # fmt: skip
            for frames, found in zip(
                (values, by_part), measured(experiment, classifier, tests), strict=True
            ):
                frames.append(found.assign(**about))
            if labels == max(job.params.labels):
                read.append(readings(experiment, classifier, tests[0]).assign(**about))
    return {
        "values": pd.concat(values, ignore_index=True),
        "by_part": pd.concat(by_part, ignore_index=True),
        "readings": pd.concat(read, ignore_index=True),
    }
