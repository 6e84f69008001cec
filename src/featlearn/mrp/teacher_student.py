"""Pre-training by teacher and student, from what the config says of it."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from featlearn.mrp.experiment import Experiment
from featlearn.mrp.gradients import TeacherFactor
from featlearn.mrp.train import Pretrained, TeacherStudent, pretrain


def teacher_student(
    experiment: Experiment,
    x: Tensor,
    w: Tensor,
    *,
    theta: float,
    schedule: str,
    **options: Any,
) -> Pretrained:
    """Teacher-student pre-training of an experiment's kernels ``w`` (R, K, d).

    ``options`` are those of :func:`featlearn.mrp.train.pretrain`.
    """
    activation = experiment.activation
    factor = TeacherFactor(theta, experiment.spec.patches_per_feature, schedule, activation.q)
    return pretrain(
        x,
        experiment.features,
        w,
        TeacherStudent(activation, factor),
        varrho=activation.varrho,
        **options,
    )
