"""Who wins which feature and when, predicted and measured; and what happens after the capture."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd
import torch
from torch import Tensor

from featlearn.core.progress import Progress
from featlearn.core.seeds import Streams
from featlearn.mrp.closed_forms import (
    Framework,
    captured_slope,
    growth_power,
    hitting_time,
    mae_fixed_point,
    mae_growth,
    teacher_student_growth,
)
from featlearn.mrp.experiment import Experiment
from featlearn.mrp.gradients import TeacherFactor, mae_descent, teacher_student_descent
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

if TYPE_CHECKING:
    from featlearn.core.job import Job
    from featlearn.core.outputs import Results


def growth(job: Job) -> Results:
    """Time when every feature reaches the target correlation, at several scales of the start."""
    steps = max(job.config[framework]["max_steps"] for framework in CASES.values())
    report = Progress(job.rule, steps).report
    done = run_cases(job.config, job.seed, job.device, report)
    hits, curves = zip(*done, strict=True)
    return {
        "hits": pd.concat(hits, ignore_index=True),
        "curves": pd.concat(curves, ignore_index=True),
    }


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
#: ``ended`` is the last step of the run.
HIT_COLUMNS = (
    "case", "sigma_0", "replicate", "feature", "initial", "growth", "nearest", "predicted",
    "measured", "ended",
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
        "ended": done.stopped.cpu().unsqueeze(1).expand(-1, spec.features),
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


# --------------------------------------------------------------------------- a single kernel

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


def one_kernel(job: Job) -> Results:
    """Follow a single kernel along a single feature after its capture, in both frameworks.

    Without noise: the library's own gradients in float64, so that they can be set against the
    closed forms. One replicate is one random instance; the strengths of its samples differ.
    """
    config = job.config
    streams = Streams(job.seed, "mrp", "growth-one-kernel", range(config["replicates"]))
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
