"""The keep probability theta: how long capture takes, and where MAE pre-training comes to rest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd
import torch
from torch import Tensor

from featlearn.core.frames import tidy
from featlearn.mrp.closed_forms import Framework, mae_fixed_point_on
from featlearn.mrp.data import Problem, Samples
from featlearn.mrp.gradients import mae_loss, teacher_factor, teacher_student_loss
from featlearn.mrp.measure import joined
from featlearn.mrp.model import capture_strength, correlations, encode
from featlearn.mrp.train import Pretrained, pretrain

if TYPE_CHECKING:
    from featlearn.core.job import Job
    from featlearn.core.outputs import Results

FRAMEWORKS: tuple[Framework, ...] = ("teacher_student", "mae")


def keep_probability(job: Job) -> Results:
    """Train both frameworks over the keep probability, all replicates and thetas in one batch."""
    config, thetas, frames = job.config, job.config["thetas"], []
    for framework in FRAMEWORKS:
        settings = dict(config[framework])
        section = {**config, "network": {**config["network"], "q": settings.pop("q")}}
        problem = Problem("keep-probability", section, job.seed, job.device)
        if framework == "teacher_student":
            room = problem.spec.patches_per_feature
            settings |= {"schedule": "constant", "patches_per_feature": room}
        count, w = len(thetas), problem.kernels()
        # theta after theta
        theta = torch.tensor(thetas, dtype=torch.float32).repeat_interleave(problem.replicates)
        done = pretrain(
            problem.train.x.repeat(count, 1, 1, 1), problem.features.repeat(count, 1, 1, 1),
            w.repeat(count, 1, 1), problem.activation, theta=theta.to(problem.device),
            may_diverge=True, **settings,
        )  # fmt: skip
        frames.append(trade_off(problem, framework, thetas, done, w))
        frames.append(initial_loss(problem, framework, config["small_thetas"]))
    # of the MAE framework, the last one
    return {"trade_off": joined(*frames), "fixed_points": rest(problem, thetas, done)}


def trade_off(
    problem: Problem, framework: Framework, thetas: Sequence[float], done: Pretrained, w: Tensor
) -> pd.DataFrame:
    """What was captured, when, and how much the features grew.

    A time that never came is the length of the run, ``stopped``; ``complete`` says which ones are
    meant: 1 where all features were captured.
    """
    count, hit = len(thetas), done.hit.flatten(1)
    features, start = problem.features.repeat(count, 1, 1, 1), w.repeat(count, 1, 1)
    gain = capture_strength(done.w, features) / capture_strength(start, features)
    time = torch.where(hit >= 0, hit, done.stopped.unsqueeze(1))
    quantities = {
        "captured": (hit >= 0).double().mean(1),
        "complete": (hit >= 0).all(1).double(),
        "all_captured": time.amax(1),
        "first_captured": time.amin(1),
        "growth_factor": gain.flatten(1).amax(1),
        "diverged": done.diverged.double(),
    }
    values = torch.stack([value.double() for value in quantities.values()])
    axes: dict[str, Sequence[Any]] = {
        "framework": [framework],
        "quantity": list(quantities),
        "theta": thetas,
        "replicate": range(problem.replicates),
    }
    frame = tidy(axes, value=values.view(1, len(quantities), count, -1))
    return frame[["framework", "theta", "replicate", "quantity", "value"]]


def initial_loss(problem: Problem, framework: Framework, thetas: Sequence[float]) -> pd.DataFrame:
    """The expected masked loss of the initial kernels: how it grows as theta tends to 0."""
    x, w, activation = problem.train.x, problem.kernels(), problem.activation
    frames = []
    for theta in thetas:
        if framework == "mae":
            loss = mae_loss(x, w, theta, activation)
        else:
            room = problem.spec.patches_per_feature
            tau = float(teacher_factor("constant", 0, theta, room, activation.q))
            target = encode(x, tau * w, activation.q, activation.varrho)
            loss = teacher_student_loss(x, w, target, theta, activation)
        axes = {"theta": [theta], "replicate": range(problem.replicates)}
        frame = tidy(axes, quantity="initial_loss", value=loss)
        frame.insert(0, "framework", framework)
        frames.append(frame)
    return joined(*frames)


def rest(problem: Problem, thetas: Sequence[float], done: Pretrained) -> pd.DataFrame:
    """Lambda after MAE training against the fixed point of the training data, by feature.

    ``strength`` and ``second`` are what the strongest and the second kernel of a feature hold.
    """
    z = strengths_of(problem.train, problem.spec.features)
    w = done.w.view(len(thetas), problem.replicates, *done.w.shape[1:])
    axes = {"replicate": range(problem.replicates), "feature": range(problem.spec.features)}
    frames = []
    for place, theta in enumerate(thetas):
        best, _ = correlations(w[place], problem.features).flatten(2).topk(2, dim=1)
        formula = mae_fixed_point_on(z, theta, problem.activation)
        frames.append(
            tidy(
                {"theta": [theta], **axes}, strength=best[:, 0], second=best[:, 1], formula=formula
            )
        )
    return joined(*frames)


def strengths_of(samples: Samples, features: int) -> Tensor:
    """Strength of each feature on each patch, 0 where it is not: (R, F, N * P)."""
    owner = samples.owner.cpu().flatten(1).unsqueeze(1)
    there = owner == torch.arange(features).view(1, -1, 1)
    return there * samples.strength.cpu().flatten(1).unsqueeze(1)
