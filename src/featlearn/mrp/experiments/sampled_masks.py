"""Sampled masks against the exact expectation: how far the estimated gradient is off."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pandas as pd

from featlearn.core.seeds import Streams
from featlearn.mrp.experiment import Experiment
from featlearn.mrp.gradients import (
    TeacherFactor,
    teacher_student_descent,
    teacher_student_descent_sampled,
)

if TYPE_CHECKING:
    from featlearn.core.job import Job
    from featlearn.core.outputs import Results

#: Columns of ``errors.parquet``: relative error of one estimate of the gradient of all kernels.
COLUMNS = ("theta", "masks", "replicate", "error")


def measure(job: Job) -> Results:
    """Estimate the teacher-student gradient from sampled masks, and compare with the exact one."""
    return {"errors": pd.DataFrame([*_errors(job)], columns=COLUMNS)}


def _errors(job: Job) -> Iterator[tuple[float, int, int, float]]:
    """``|estimate - exact| / |exact|`` over all kernels, for every theta and number of masks."""
    config = job.config
    experiment = Experiment("sampled-masks", config, job.seed, job.device)
    x, w = experiment.train_samples().x, experiment.initial_kernels()
    activation, room = experiment.activation, experiment.spec.patches_per_feature
    for theta in config["thetas"]:
        tau = TeacherFactor(theta, room, "constant", activation.q)(0)
        assert isinstance(tau, float)
        exact = teacher_student_descent(x, w, theta, activation, tau=tau)
        size = exact.flatten(1).norm(dim=1)
        for masks in config["masks"]:
            for replicate in range(config["replicates"]):
                purpose = f"masks-{theta}-{masks}"
                (stream,) = Streams(job.seed, "mrp", "sampled-masks", [replicate])(purpose)
                one = slice(replicate, replicate + 1)
                estimate = teacher_student_descent_sampled(
                    x[one], w[one], theta, activation, tau=tau, masks=masks, stream=stream
                )
                off = (estimate - exact[one]).norm() / size[replicate]
                yield theta, masks, replicate, float(off)
