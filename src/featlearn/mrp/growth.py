"""Who wins which feature and when: predicted from the initial draw, measured on a run."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import pandas as pd
import torch
from torch import Tensor

from featlearn.mrp.closed_forms import (
    Framework,
    growth_power,
    hitting_time,
    mae_growth,
    teacher_student_growth,
)
from featlearn.mrp.experiment import Experiment
from featlearn.mrp.gradients import TeacherFactor
from featlearn.mrp.model import Activation
from featlearn.mrp.train import (
    MaskedAutoencoder,
    Pretrained,
    Pretraining,
    Report,
    TeacherStudent,
    Trace,
    correlations,
    pretrain,
)


def predicted_hits(
    correlation: Tensor,
    growth: Tensor,
    target: float,
    framework: Framework,
    activation: Activation,
    learning_rate: float,
    *,
    exclusive: bool,
) -> Tensor:
    """Steps until the correlation of each feature reaches ``target``, from the closed form.

    Parameters
    ----------
    correlation : (R, K, F)
        Initial correlations.
    growth : (R, F)
        Growth constants ``Gamma``.
    exclusive
        False: a feature is won by the kernel that starts nearest to it. True: a kernel wins one
        feature at most (the MAE framework, in which a captured feature drives the others out of
        its kernel); a feature whose nearest kernel is won by an earlier one takes its next best.

    Returns
    -------
    Tensor
        (R, F) float64; infinite where no kernel can.
    """
    power = growth_power(framework, activation.q)
    start = correlation.double()
    steps = hitting_time(
        start.clamp_min(1e-12), target, growth.unsqueeze(1), power, activation, learning_rate
    )
    steps = torch.where((start > 0) & (growth.unsqueeze(1) > 0), steps, torch.inf)
    if not exclusive:
        return steps.amin(1).clamp_min(0)
    return torch.stack([_one_each(own) for own in steps]).clamp_min(0)


def _one_each(steps: Tensor) -> Tensor:
    """Earliest pair first, then without its kernel and its feature, and so on: (K, F) to (F,)."""
    left = steps.clone()
    found = torch.full(steps.shape[1:], torch.inf, dtype=steps.dtype)
    for _ in range(min(steps.shape)):
        if left.min() == torch.inf:  # the features that are left have no kernel
            break
        kernel, feature = divmod(int(left.argmin()), steps.shape[1])
        found[feature] = left[kernel, feature]
        left[kernel, :] = torch.inf
        left[:, feature] = torch.inf
    return found


def crossing_steps(trace: Trace, target: float) -> Tensor:
    """When ``Lambda`` first reached ``target``, between two rows by linear interpolation.

    Returns
    -------
    Tensor
        (R, F) float64: 0 if it was there at the start, NaN if it never came.
    """
    steps = torch.tensor(trace.steps, dtype=torch.float64)
    strength = trace.stacked("strength").flatten(2).double()
    there = strength >= target
    row = there.to(torch.int8).argmax(0)
    before = (row - 1).clamp_min(0)
    low = strength.gather(0, before.unsqueeze(0)).squeeze(0)
    high = strength.gather(0, row.unsqueeze(0)).squeeze(0)
    share = torch.where(row > 0, (target - low) / (high - low), 0.0)
    crossed = steps[before] + share * (steps[row] - steps[before])
    return torch.where(there.any(0), crossed, torch.nan)


# --------------------------------------------------------------------------- runs

#: Columns of ``hits.parquet``: when each feature reached the target. ``nearest`` is the closed form
#: for the kernel that starts nearest, ``predicted`` the same with one feature a kernel (MAE).
HIT_COLUMNS = (
    "case", "sigma_0", "replicate", "feature", "initial", "growth", "nearest", "predicted",
    "measured",
)  # fmt: skip
#: Columns of ``curves.parquet``: ``Lambda`` of every feature over time, in one replicate.
CURVE_COLUMNS = ("case", "sigma_0", "feature", "step", "strength")
#: Rows of a curve, about: it is thinned to even spacing in the logarithm of the step.
CURVE_ROWS = 150


def grow(
    case: str,
    experiments: Sequence[Experiment],
    framework: Framework,
    *,
    theta: float,
    learning_rate: float,
    target: float,
    max_steps: int,
    dtype: torch.dtype = torch.float32,
    report: Report,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Train until every feature reached ``target``; compare each time with the closed form.

    Parameters
    ----------
    case
        Name of this run in the frames.
    experiments
        One a ``sigma_0``, of the same name: the same data and the same draw of kernels, scaled.
    target
        A correlation in the polynomial regime.
    dtype
        float64 where a kernel grows by less than the rounding of float32 a step.

    Returns
    -------
    hits, curves
        With :data:`HIT_COLUMNS` and :data:`CURVE_COLUMNS`.
    """
    first = experiments[0]
    activation, spec, count = first.activation, first.spec, len(experiments)
    samples = first.train_samples()
    x = samples.x.to(dtype).repeat(count, 1, 1, 1)
    features = first.features.to(dtype).repeat(count, 1, 1, 1)
    w = torch.cat([one.initial_kernels() for one in experiments]).to(dtype)
    factor = TeacherFactor(theta, spec.patches_per_feature, "constant", activation.q)
    if framework == "mae":
        method: Pretraining = MaskedAutoencoder(activation, theta)
        growth = mae_growth(samples, spec.features, activation.q)
    else:
        method = TeacherStudent(activation, factor)
        growth = teacher_student_growth(samples, spec.features, activation.q, theta, factor(0))
    done = pretrain(
        x, features, w, method, varrho=target, learning_rate=learning_rate, max_steps=max_steps,
        record_every=1, may_diverge=True, report=report,
    )  # fmt: skip
    start = correlations(w, features).flatten(2).cpu()
    growth = growth.cpu().repeat(count, 1)
    law = partial(predicted_hits, start, growth, target, framework, activation, learning_rate)
    columns = {
        "initial": start.amax(1).clamp_min(0),
        "growth": growth,
        "nearest": law(exclusive=False),
        "predicted": law(exclusive=framework == "mae"),
        "measured": crossing_steps(done.trace, target),
    }
    sigmas = [float(one.config["network"]["sigma_0"]) for one in experiments]
    replicates = first.config["replicates"]
    index = pd.MultiIndex.from_product(
        [[case], sigmas, range(replicates), range(spec.features)], names=list(HIT_COLUMNS[:4])
    )
    hits = pd.DataFrame(
        {name: value.double().flatten().numpy() for name, value in columns.items()}, index=index
    ).reset_index()
    curves = [_curves(done, case, n * replicates, sigma) for n, sigma in enumerate(sigmas)]
    return hits, pd.concat(curves, ignore_index=True)


def _curves(done: Pretrained, case: str, replicate: int, sigma: float) -> pd.DataFrame:
    """The curves of one replicate of a batch up to its own end, thinned."""
    strength = done.trace.stacked("strength").flatten(2)[:, replicate]
    last = int(done.stopped[replicate])
    spaced = torch.logspace(0, math.log10(max(1, last)), CURVE_ROWS).long().clamp_max(last)
    rows = sorted({0, *spaced.tolist()})
    index = pd.MultiIndex.from_product(
        [[case], [sigma], rows, range(strength.shape[1])],
        names=["case", "sigma_0", "step", "feature"],
    )
    values = strength[rows].double().flatten().numpy()
    return pd.DataFrame({"strength": values}, index=index).reset_index()[list(CURVE_COLUMNS)]


#: The runs: on multi-view data in both frameworks, and teacher-student where nothing disturbs it.
CASES: dict[str, Framework] = {
    "mae": "mae",
    "teacher_student": "teacher_student",
    "teacher_student_alone": "teacher_student",
}


def run_cases(
    config: Mapping[str, Any], seed: int, device: torch.device, report: Report
) -> Iterator[tuple[pd.DataFrame, pd.DataFrame]]:
    """Hits and curves of all cases of the ``growth`` section, see :func:`grow`."""
    for case, framework in CASES.items():
        settings = config[framework]
        problem = config["alone"] if case.endswith("alone") else config
        experiments = [
            Experiment(
                f"growth-{case}",
                {
                    "replicates": config["replicates"],
                    "data": problem["data"],
                    "network": {**problem["network"], "q": settings["q"], "sigma_0": sigma},
                },
                seed,
                device,
            )
            for sigma in config["sigma_0"]
        ]
        yield grow(
            case,
            experiments,
            framework,
            theta=config["theta"],
            learning_rate=settings["learning_rate"],
            target=config["target"],
            max_steps=settings["max_steps"],
            dtype=torch.float64 if case.endswith("alone") else torch.float32,
            report=report,
        )
