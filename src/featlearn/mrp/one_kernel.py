"""A single kernel along a single feature, without noise: what happens after the capture.

Runs of the library's own gradients in float64, so that they can be set against the closed forms.
One replicate is one random instance; the strengths of its samples differ.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import torch
from torch import Tensor

from featlearn.core.seeds import Streams
from featlearn.mrp.closed_forms import captured_slope, mae_fixed_point
from featlearn.mrp.gradients import TeacherFactor, mae_descent, teacher_student_descent
from featlearn.mrp.model import Activation

#: Schedules of the teacher factor that are compared: the two that the paper gives, and none.
SCHEDULES = ("constant", "main", "appendix")
#: Columns of ``after-capture.parquet``: Lambda and the step's gradient along the feature.
AFTER_CAPTURE_COLUMNS = ("schedule", "replicate", "step", "strength", "slope", "closed_form")
#: Columns of ``residual-slopes.parquet``: the gradient at the moment of a capture at step T_0.
RESIDUAL_COLUMNS = ("schedule", "replicate", "capture_step", "slope", "offset_slope")
#: Columns of ``one-kernel-fixed-points.parquet``.
FIXED_POINT_COLUMNS = ("varrho", "replicate", "theta", "strength", "measured", "formula")


def strengths(count: int, low: float, high: float, streams: Sequence[torch.Generator]) -> Tensor:
    """Strengths uniform in [low, high]: (R, count) float64."""
    drawn = [torch.rand(count, generator=stream, dtype=torch.float64) for stream in streams]
    return low + (high - low) * torch.stack(drawn)


def slope(z: Tensor, a: Tensor, theta: float, tau: Tensor, activation: Activation) -> Tensor:
    """Teacher-student gradient along the feature for kernels ``a v``: (R,).

    Parameters
    ----------
    z : (R, N)
        Strengths, one patch a sample.
    a, tau : (R,)
        Correlation and teacher factor.
    """
    x, w = z.view(*z.shape, 1, 1), a.view(-1, 1, 1)
    return teacher_student_descent(x, w, theta, activation, tau=tau).flatten()


def _factors(schedule: str, theta: float, step: int, q: int, replicates: int) -> Tensor:
    value = TeacherFactor(theta, 1, schedule, q)(step)
    return torch.full((replicates,), float(value), dtype=torch.float64)


def _closed_form(z: Tensor, a: Tensor, theta: float, tau: Tensor, activation: Activation) -> Tensor:
    """``captured_slope`` averaged over the samples: (R,)."""
    delta = (tau - 1 - (1 - theta) / theta).unsqueeze(1)
    return captured_slope(a.unsqueeze(1), z, 1, theta, delta, activation).mean(1)


def after_capture(
    z: Tensor,
    theta: float,
    activation: Activation,
    *,
    learning_rate: float,
    capture_step: int,
    steps: int,
    record_every: int,
) -> pd.DataFrame:
    """Go on with teacher-student training after a capture at ``capture_step``.

    All schedules train in one batch; columns :data:`AFTER_CAPTURE_COLUMNS`.
    """
    replicates = z.shape[0]
    batch = z.repeat(len(SCHEDULES), 1)
    a = torch.full((batch.shape[0],), activation.varrho, dtype=torch.float64)
    rows = []
    for step in range(capture_step, capture_step + steps + 1):
        tau = torch.cat(
            [_factors(name, theta, step, activation.q, replicates) for name in SCHEDULES]
        )
        found = slope(batch, a, theta, tau, activation)
        if (step - capture_step) % record_every == 0:
            wanted = _closed_form(batch, a, theta, tau, activation)
            for n, row in enumerate(zip(a.tolist(), found.tolist(), wanted.tolist(), strict=True)):
                rows.append((SCHEDULES[n // replicates], n % replicates, step, *row))
        a = a + learning_rate * found
    return pd.DataFrame(rows, columns=list(AFTER_CAPTURE_COLUMNS))


def residual_slopes(
    z: Tensor, theta: float, activation: Activation, capture_steps: Sequence[int]
) -> pd.DataFrame:
    """The gradient that is left when the capture happens at each of ``capture_steps``.

    The paper lets it fade like ``T_0^(-1/q)``; ``offset_slope`` is the part of the closed form that
    does not depend on time. Columns :data:`RESIDUAL_COLUMNS`.
    """
    replicates = z.shape[0]
    a = torch.full((replicates,), activation.varrho, dtype=torch.float64)
    zero = _factors("constant", theta, 0, activation.q, replicates)
    offset = _closed_form(z, a, theta, zero, activation).tolist()
    rows = []
    for schedule in SCHEDULES:
        for step in capture_steps:
            tau = _factors(schedule, theta, step, activation.q, replicates)
            found = slope(z, a, theta, tau, activation).tolist()
            rows += [(schedule, r, step, found[r], offset[r]) for r in range(replicates)]
    return pd.DataFrame(rows, columns=list(RESIDUAL_COLUMNS))


def fixed_points(
    z: Tensor, theta: Tensor, activation: Activation, *, learning_rate: float, steps: int
) -> pd.DataFrame:
    """Where MAE training of one kernel on patches of one strength ends, against the formula.

    Parameters
    ----------
    z, theta : (R,)
        One instance a replicate.
    """
    x = z.view(-1, 1, 1, 1)
    w = torch.full((z.shape[0], 1, 1), 0.8, dtype=torch.float64)
    for _ in range(steps):
        w = w + learning_rate * mae_descent(x, w, theta, activation)
    formula = mae_fixed_point(theta, z, activation)
    columns = [range(z.shape[0]), theta, z, w.flatten(), formula]
    lists = [list(map(float, column)) for column in columns[1:]]
    rows = [(activation.varrho, r, *values) for r, values in enumerate(zip(*lists, strict=True))]
    return pd.DataFrame(rows, columns=list(FIXED_POINT_COLUMNS))


#: Steps at which the capture is put, to see whether what is left of the gradient fades with them.
CAPTURE_STEPS = tuple(10**power for power in range(1, 8))


def run_one_kernel(config: Mapping[str, Any], seed: int) -> dict[str, pd.DataFrame]:
    """All frames of the single kernel, from the ``growth`` section of the config."""
    streams = Streams(seed, "mrp", "growth-one-kernel", range(config["replicates"]))
    varrho, theta = config["network"]["varrho"], config["theta"]
    after = dict(config["after_capture"])
    low, high = config["data"]["main_strength"]
    z = strengths(after.pop("samples"), low, high, streams("strengths"))
    teacher = Activation(config["teacher_student"]["q"], varrho)
    rest = config["fixed_points"]
    many = strengths(2, 0.0, 1.0, streams("fixed-points"))
    points = [
        fixed_points(
            # an activation that is linear at the start, where the formula belongs
            0.8 + 0.7 * many[:, 0],
            0.1 + 0.9 * many[:, 1],
            Activation(config["mae"]["q"], small),
            learning_rate=rest["learning_rate"],
            steps=rest["steps"],
        )
        for small in rest["varrho"]
    ]
    return {
        "after_capture": after_capture(z, theta, teacher, **after),
        "residual_slopes": residual_slopes(z, theta, teacher, CAPTURE_STEPS),
        "fixed_points": pd.concat(points, ignore_index=True),
    }
