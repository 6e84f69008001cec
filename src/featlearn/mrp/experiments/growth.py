"""Who wins which feature and when, predicted and measured; and the gradient left at the capture."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd
import torch
from torch import Tensor

from featlearn.core.evidence.frames import tidy
from featlearn.core.run.progress import Progress
from featlearn.core.seeds import Streams, draws
from featlearn.mrp.closed_forms import (
    Framework,
    captured_slope,
    growth_power,
    hitting_time,
    mae_growth,
    teacher_student_growth,
)
from featlearn.mrp.data import Problem
from featlearn.mrp.gradients import teacher_factor, teacher_student_descent
from featlearn.mrp.model import Activation, correlations
from featlearn.mrp.train import Trace, pretrain

if TYPE_CHECKING:
    from featlearn.core.run.job import Job
    from featlearn.core.run.outputs import Results

#: The runs: on multi-view data in both frameworks, and teacher-student where nothing disturbs it.
CASES: dict[str, Framework] = {
    "mae": "mae",
    "teacher_student": "teacher_student",
    "teacher_student_alone": "teacher_student",
}
#: Schedules of the teacher factor that are compared: the two that the paper gives, and none.
SCHEDULES = ("constant", "main", "appendix")
#: Steps at which the capture is put, to see whether what is left of the gradient fades with them.
CAPTURE_STEPS = tuple(10**power for power in range(1, 8))


def growth(job: Job) -> Results:
    """Time when every feature reaches the target correlation, at several scales of the start.

    ``hits``: a row a feature; ``nearest`` is the closed form for the kernel that starts nearest,
    ``predicted`` the same with one feature a kernel (MAE), ``ended`` the last step of the run.
    """
    return {"hits": pd.concat([grow(job, case) for case in CASES], ignore_index=True)}


def grow(job: Job, case: str) -> pd.DataFrame:
    """Train until every feature reached the target; compare each time with the closed form.

    All ``sigma_0`` train in one batch: the same data and the same draw of kernels, scaled.
    """
    framework, alone = CASES[case], case.endswith("alone")
    config, settings = job.config, job.config[framework]
    part = config["alone"] if alone else config
    network = {**part["network"], "q": settings["q"]}
    section = {"replicates": config["replicates"], "data": part["data"], "network": network}
    problem = Problem(f"growth-{case}", section, job.seed, job.device)
    activation, spec, samples = problem.activation, problem.spec, problem.train
    theta, target, rate = config["theta"], config["target"], settings["learning_rate"]
    # kernels without noise grow by less than the rounding of float32 a step
    dtype = torch.float64 if alone else torch.float32
    scales = len(config["sigma_0"])
    features = problem.features.to(dtype).repeat(scales, 1, 1, 1)
    w = torch.cat([problem.kernels(sigma_0=sigma) for sigma in config["sigma_0"]]).to(dtype)
    if framework == "mae":
        teacher: dict[str, Any] = {}
        constant = mae_growth(samples, spec.features, activation.q)
    else:
        teacher = {"schedule": "constant", "patches_per_feature": spec.patches_per_feature}
        tau = teacher_factor("constant", 0, theta, spec.patches_per_feature, activation.q)
        constant = teacher_student_growth(samples, spec.features, activation.q, theta, tau)
    steps = max(config[each]["max_steps"] for each in CASES.values())
    done = pretrain(
        samples.x.to(dtype).repeat(scales, 1, 1, 1), features, w, activation, theta=theta,
        **teacher, captured_at=target, learning_rate=rate, max_steps=settings["max_steps"],
        record_every=1, may_diverge=True, report=Progress(job.rule, steps).report,
    )  # fmt: skip
    start = correlations(w, features).flatten(2).cpu()
    constant = constant.cpu().repeat(scales, 1)
    law = partial(predicted_hits, start, constant, target, framework, activation, rate)
    axes = {"case": [case], "sigma_0": config["sigma_0"], "replicate": range(problem.replicates),
            "feature": range(spec.features)}  # fmt: skip
    columns = {
        "nearest": law(exclusive=False),
        "predicted": law(exclusive=framework == "mae"),
        "measured": crossing_steps(done.trace, target),
        "ended": done.stopped.cpu().double().unsqueeze(1).expand(-1, spec.features),
    }
    shape = [len(axis) for axis in axes.values()]
    return tidy(axes, **{name: value.reshape(shape) for name, value in columns.items()})


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

    ``correlation`` (R, K, F): initial ones. ``growth`` (R, F): growth constants ``Gamma``.
    ``exclusive``: a kernel wins one feature at most (MAE, in which a captured feature drives the
    others out of its kernel), and a later one takes its next best; else the kernel that starts
    nearest wins. Returns a Tensor (R, F) float64; infinite where no kernel can.
    """
    start, growth = correlation.double(), growth.unsqueeze(1)
    power = growth_power(framework, activation.q)
    steps = hitting_time(start.clamp_min(1e-12), target, growth, power, activation, learning_rate)
    steps = torch.where((start > 0) & (growth > 0), steps, torch.inf)
    best = torch.stack([_one_each(each) for each in steps]) if exclusive else steps.amin(1)
    return best.clamp_min(0)


def _one_each(steps: Tensor) -> Tensor:
    """Earliest pair first, then without its kernel and its feature, and so on: (K, F) to (F,)."""
    left = steps.clone()
    arrival = torch.full(steps.shape[1:], torch.inf, dtype=steps.dtype)
    while left.min() < torch.inf:
        kernel, feature = divmod(int(left.argmin()), steps.shape[1])
        arrival[feature] = left[kernel, feature]
        left[kernel], left[:, feature] = torch.inf, torch.inf
    return arrival


def crossing_steps(trace: Trace, target: float) -> Tensor:
    """(R, F) float64: when ``Lambda`` reached ``target``, interpolated; NaN if it never did."""
    steps = torch.tensor(trace.steps, dtype=torch.float64)
    strength = trace["strength"].flatten(2).double()
    there = strength >= target
    row = there.to(torch.int8).argmax(0)
    before = (row - 1).clamp_min(0)
    low, high = (strength.gather(0, at.unsqueeze(0)).squeeze(0) for at in (before, row))
    share = torch.where(row > 0, (target - low) / (high - low), 0.0)
    crossed = steps[before] + share * (steps[row] - steps[before])
    return torch.where(there.any(0), crossed, torch.nan)


def one_kernel(job: Job) -> Results:
    """The gradient on a single kernel along a single feature at its capture.

    Without noise: the library's own gradients in float64, so that they can be set against the
    closed forms. One replicate is one random instance; the strengths of its samples differ.
    """
    config, replicates = job.config, range(job.config["replicates"])
    streams = Streams(job.seed, "mrp", "growth-one-kernel", replicates)
    theta = config["theta"]
    low, high = config["data"]["main_strength"]
    count, drawn = config["captured_samples"], streams("strengths")
    z = low + (high - low) * draws(torch.rand, drawn, count, dtype=torch.float64)
    activation = Activation(config["teacher_student"]["q"], config["network"]["varrho"])
    return {"residual_slopes": residual_slopes(z, theta, activation, CAPTURE_STEPS)}


def residual_slopes(
    z: Tensor, theta: float, activation: Activation, capture_steps: Sequence[int]
) -> pd.DataFrame:
    """The gradient that is left when the capture happens at each of ``capture_steps``.

    The paper lets it fade like ``T_0^(-1/q)``; ``offset_slope`` is the part of the closed form that
    does not depend on time.
    """
    a = torch.full((len(z),), activation.varrho, dtype=torch.float64)

    def factors(schedule: str, step: int) -> Tensor:
        return torch.full_like(a, float(teacher_factor(schedule, step, theta, 1, activation.q)))

    delta = (factors("constant", 0) - 1 - (1 - theta) / theta).unsqueeze(1)
    # one patch a sample, of strength z; kernels a v along the feature
    x, w = z.view(*z.shape, 1, 1), a.view(-1, 1, 1)
    offset = captured_slope(a.unsqueeze(1), z, 1, theta, delta, activation).mean(1)
    frames = []
    for schedule in SCHEDULES:
        for step in capture_steps:
            tau = factors(schedule, step)
            gradient = teacher_student_descent(x, w, theta, activation, tau=tau).flatten()
            frames.append(tidy({"schedule": [schedule], "replicate": range(len(z))},
                               capture_step=step, slope=gradient, offset_slope=offset))  # fmt: skip
    return pd.concat(frames, ignore_index=True)
