"""The teacher-student experiment: pre-train, and read off what the two halves of the theory say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from torch import Tensor

from featlearn.mrp.experiment import Experiment
from featlearn.mrp.gradients import TeacherFactor
from featlearn.mrp.measure import Capture, EvaluationRow
from featlearn.mrp.purity import impure_share, purity, second_best
from featlearn.mrp.train import (
    MaskedAutoencoder,
    Observe,
    Pretrained,
    TeacherStudent,
    pretrain,
)


def teacher_student(
    experiment: Experiment,
    x: Tensor,
    w: Tensor,
    *,
    theta: float,
    schedule: str,
    may_diverge: bool = False,
    observe: Observe | None = None,
    **options: Any,
) -> Pretrained:
    """Teacher-student pre-training of an experiment's kernels ``w`` (R, K, d)."""
    activation = experiment.activation
    factor = TeacherFactor(theta, experiment.spec.patches_per_feature, schedule, activation.q)
    return pretrain(
        x,
        experiment.features,
        w,
        TeacherStudent(activation, factor),
        varrho=activation.varrho,
        may_diverge=may_diverge,
        observe=observe,
        **options,
    )


def masked_autoencoder(
    experiment: Experiment, x: Tensor, w: Tensor, *, theta: float, **options: Any
) -> Pretrained:
    """MAE-style pre-training from the same start, for comparison."""
    activation = experiment.activation
    method = MaskedAutoencoder(activation, theta)
    return pretrain(x, experiment.features, w, method, varrho=activation.varrho, **options)


def kernel_rows(model: str, held: Capture) -> Iterator[EvaluationRow]:
    """What kernels hold: winners, impure ones of both kinds, largest correlations."""
    counts = purity(held)
    quantities = {
        **counts,
        "impure_share": impure_share(counts),
        "captured": held.captured().flatten(1).double().mean(-1),
        "off_diagonal": second_best(held.correlation).flatten(1).amax(-1),
    }
    return rows(model, quantities)


def rows(model: str, quantities: Mapping[str, Tensor]) -> Iterator[EvaluationRow]:
    """Rows of an evaluation frame from numbers (R,)."""
    for quantity, values in quantities.items():
        for replicate, value in enumerate(values.tolist()):
            yield model, replicate, quantity, float(value)
