"""The teacher-student experiment: pre-train, and read off what the two halves of the theory say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd
import torch
from torch import Tensor

from featlearn.mrp.experiment import Experiment
from featlearn.mrp.gradients import TeacherFactor
from featlearn.mrp.lottery import lottery_sets, memberships, winner_in_set
from featlearn.mrp.measure import Capture, EvaluationRow, strength_history
from featlearn.mrp.purity import impure_share, purity, second_best
from featlearn.mrp.train import (
    MaskedAutoencoder,
    Observe,
    Pretrained,
    TeacherStudent,
    Trace,
    correlations,
    pretrain,
)

#: Columns of ``matrix.parquet``: one correlation; kernels are those that hold something at the end.
MATRIX_COLUMNS = ("framework", "when", "kernel", "feature", "correlation")


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


def growth_history(trace: Trace) -> pd.DataFrame:
    """Winners and losers over time: columns step, replicate, class, view, strength, off_diagonal.

    ``off_diagonal`` is the largest |correlation| of the feature with a kernel whose strongest
    feature is another one; the trace must come from a run with :class:`Watch`.
    """
    return strength_history(trace).assign(
        off_diagonal=trace.stacked("off_diagonal").flatten().numpy()
    )


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


def lottery_rows(
    model: str, before: Tensor, after: Tensor, constants: Mapping[str, float]
) -> Iterator[EvaluationRow]:
    """Share of the winners that the initial draw had in its lottery set, for each ``C_M``.

    ``before`` and ``after`` are correlations (R, K, k, L).
    """
    for name, constant in constants.items():
        sets = lottery_sets(before, constant)
        inside = winner_in_set(after, sets).flatten(1).double().mean(-1)
        shared = (memberships(sets) > 1).sum(-1)
        yield from rows(model, {f"winner_in_set_{name}": inside, f"shared_kernels_{name}": shared})


def rows(model: str, quantities: Mapping[str, Tensor]) -> Iterator[EvaluationRow]:
    """Rows of an evaluation frame from numbers (R,)."""
    for quantity, values in quantities.items():
        for replicate, value in enumerate(values.tolist()):
            yield model, replicate, quantity, float(value)


def matrix_rows(
    framework: str, before: Tensor, after: Tensor, features: Tensor, varrho: float
) -> Iterator[tuple[str, str, int, int, float]]:
    """Kernel-by-feature matrix of one replicate, before and after, of :data:`MATRIX_COLUMNS`.

    Parameters
    ----------
    before, after : (K, d)
    features : (k, L, d)
    """
    first, last = (
        correlations(w.unsqueeze(0), features.unsqueeze(0))[0].flatten(1) for w in (before, after)
    )
    winners = torch.nonzero(last.amax(1) >= varrho).flatten().tolist()
    for when, matrix in {"before": first, "after": last}.items():
        for kernel in winners:
            for feature, value in enumerate(matrix[kernel].tolist()):
                yield framework, when, kernel, feature, value
