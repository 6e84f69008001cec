"""A student of a fixed teacher: the discussion of BEiT (appendix H.3). Not run in the paper.

The teacher is an encoder that has finished its MAE pre-training, amplified by the teacher factor;
the student starts from random kernels, and each student kernel must match the teacher kernel of the
same index.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd
from torch import Tensor

from featlearn.core.seeds import Streams
from featlearn.mrp.classify import Task
from featlearn.mrp.experiment import Experiment
from featlearn.mrp.gradients import TeacherFactor
from featlearn.mrp.heads import head_rows
from featlearn.mrp.measure import EVALUATION_COLUMNS, Capture, EvaluationRow, replicate_rows
from featlearn.mrp.model import initial_kernels
from featlearn.mrp.purity import kernel_rows
from featlearn.mrp.train import FixedTeacher, Pretrained, correlations, pretrain

if TYPE_CHECKING:
    from featlearn.core.job import Job
    from featlearn.core.outputs import Results


def inherit(job: Job) -> Results:
    """Train students of the finished MAE encoders of the clean data; fine-tune both."""
    options = job.config["fixed_teacher"]
    experiment = Experiment("clean", job.config["clean"], job.seed, job.device)
    task = Task.of(experiment)
    teacher = job.tensors("teacher")["w"]
    # random kernels from streams of their own
    streams = Streams(job.seed, "mrp", "fixed-teacher", range(experiment.config["replicates"]))
    start = initial_kernels(
        experiment.kernels, experiment.spec.dimension, options["sigma_0"], streams("student")
    ).to(job.device)
    student = _learn(experiment, task.train.x, teacher, start, options["pretraining"]).w
    varrho = experiment.activation.varrho
    seen = [*inheritance_rows(experiment.features, teacher, start, student, varrho)]
    for name, w in {"teacher": teacher, "student": student}.items():
        seen += head_rows(name, task, w)
    return {"evaluation": pd.DataFrame(seen, columns=EVALUATION_COLUMNS)}


def _learn(
    experiment: Experiment, x: Tensor, teacher: Tensor, start: Tensor, options: Mapping[str, Any]
) -> Pretrained:
    """Train a student for all steps; the target is the teacher's output on unmasked samples."""
    activation, theta = experiment.activation, options["theta"]
    room = experiment.spec.patches_per_feature
    tau = TeacherFactor(theta, room, "constant", activation.q)(0)
    return pretrain(
        x,
        experiment.features,
        start,
        FixedTeacher(activation, theta, x, tau * teacher),
        varrho=activation.varrho,
        learning_rate=options["learning_rate"],
        max_steps=options["max_steps"],
        record_every=options["record_every"],
        hit_factor=float("inf"),
    )


def inheritance_rows(
    features: Tensor, teacher: Tensor, start: Tensor, student: Tensor, varrho: float
) -> Iterator[EvaluationRow]:
    """What teacher and student hold, and what of the teacher's the student inherited.

    ``inherited`` is the share of the teacher's captured (kernel, feature) pairs that the student's
    kernel of the same index holds too; ``inherited_if_positive`` counts only those whose student
    kernel started with a positive correlation, ``inherited_if_negative`` the others.
    """
    taught, first, last = (correlations(w, features) for w in (teacher, start, student))
    yield from kernel_rows("teacher", Capture(taught, varrho))
    yield from kernel_rows("student", Capture(last, varrho))
    pairs, held = taught >= varrho, last >= varrho

    def share(of: Tensor) -> Tensor:
        return (held & of).flatten(1).sum(1) / of.flatten(1).sum(1).clamp_min(1)

    yield from replicate_rows(
        "student",
        {
            "inherited": share(pairs),
            "inherited_if_positive": share(pairs & (first > 0)),
            "inherited_if_negative": share(pairs & (first <= 0)),
        },
    )
