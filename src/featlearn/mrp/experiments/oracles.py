"""Closed forms against brute force; what the theory must not use; masks and draws by chance."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from featlearn.core.frames import tidy
from featlearn.core.seeds import Streams, derive_seed
from featlearn.mrp import oracles as theory
from featlearn.mrp.data import Problem
from featlearn.mrp.kernels import (
    expected_largest_gaussian,
    expected_shared,
    lottery_sets,
    memberships,
)
from featlearn.mrp.measure import joined, rows
from featlearn.mrp.model import Activation, capture_strength
from featlearn.mrp.train import pretrain

if TYPE_CHECKING:
    from featlearn.core.job import Job
    from featlearn.core.outputs import Results

#: Sizes of the random instances: small enough for all ``2**P`` masks.
SIZES = {"samples": 2, "patches": 6, "dimension": 5, "kernels": 6}
#: Standard deviation of the kernels in the instances on which the identities are checked: the
#: products fall on all three branches of the activation.
IDENTITY_STD = 0.3
VARRHO = 0.3
#: Moments of a training at which the two vectors are compared, with the step as a share of the
#: step at which the last feature was captured.
MOMENTS = {"at the start": 0.0, "half-way to the capture of the last feature": 0.5,
           "when the last feature is captured": 1.0}  # fmt: skip


def oracles(job: Job) -> Results:
    """Set the closed forms against brute force on random instances; race the sequences."""
    config = job.config
    streams = Streams(job.seed, "mrp", "oracles", range(config["replicates"]))
    checks = [instances(q, config["kernel_std"], streams) for q in config["exponents"]]
    races = [race_frame(q, config["race_steps"], streams) for q in config["race_exponents"]]
    columns = ["quantity", "q", "kernel_std", "replicate", "value"]
    return {"instances": joined(*checks)[columns], "races": joined(*races)}


def instances(q: int, stds: list[float], streams: Streams) -> pd.DataFrame:
    """All checks on random instances of one exponent."""
    activation, frames = Activation(q, VARRHO), []

    def instance(purpose: str, std: float) -> theory.Instance:
        return theory.random_instance(streams(purpose), activation, kernel_std=std, **SIZES)

    def check(std: float, prefix: str, quantities: Mapping[str, Tensor]) -> None:
        named = {f"{prefix}{name}": value for name, value in quantities.items()}
        frames.append(rows(named, q=q, kernel_std=float(std)))

    for std in stds:
        given = instance(f"instance-{q}-{std}", std)
        printed = theory.printed_against_true(given.x, given.w, given.theta, activation)
        check(std, "printed_", printed)
    given = instance(f"identity-{q}", IDENTITY_STD)
    check(IDENTITY_STD, "", theory.identity_errors(given))
    x, w = theory.parallel_instance(given)
    parallel = theory.printed_against_true(x, w, given.theta, activation)
    check(IDENTITY_STD, "parallel_", parallel)
    check(0.0, "", theory.teacher_factor_errors(streams(f"teacher-factor-{q}"), activation))
    return joined(*frames)


def race_frame(q: int, length: int, streams: Streams) -> pd.DataFrame:
    """Races of random ratio and head start, and the same with that start behind.

    ``head_start`` is negative where it is behind, ``growth`` infinite where y overtook, ``bound``
    NaN where x starts behind.
    """
    noises = [
        np.random.default_rng(derive_seed(streams.seed, "mrp", "oracles", r, f"race-{q}"))
        for r in streams.replicates
    ]
    ratio = np.array([noise.uniform(0.5, 3) for noise in noises])
    ahead = np.array([noise.uniform(0.05, 0.3) for noise in noises])
    frames = []
    for start in (ahead, -ahead):
        growth = theory.race(q, ratio, start, noises, length=length)
        limit = theory.bound(q, start) if (start > 0).all() else np.full(start.shape, np.nan)
        frames.append(tidy({"q": [q], "replicate": streams.replicates}, ratio=ratio,
                           head_start=start, growth=growth, bound=limit))  # fmt: skip
    return joined(*frames)


# --------------------------------------------------------------------------- controls that train


def training_controls(job: Job) -> Results:
    """Train with the gradient as printed beside the true one, and with an ordinary teacher."""
    gradients, runs = printed_gradient(job)
    return {"gradients": gradients, "runs": runs, "ordinary_teacher": ordinary_teacher(job)}


def printed_gradient(job: Job) -> tuple[pd.DataFrame, pd.DataFrame]:
    """MAE training with the true gradient and with the vector of Fact 2.2, from the same start.

    Returns gradients: relative error and cosine of the two vectors at the kernels of the run with
    the true one; runs: ``captured`` (share of features), ``all_captured`` (steps, at most those of
    the run), ``strength`` (mean Lambda at the end).
    """
    problem, options = (
        Problem("oracles", job.config, job.seed, job.device),
        job.config["pretraining"],
    )
    x, features, w = problem.train.x, problem.features, problem.kernels()
    runs, captures = [], {}
    for name in ("true", "as_printed"):
        done = pretrain(x, features, w, problem.activation, **options,
                        as_printed=name == "as_printed")  # fmt: skip
        hit = done.hit.flatten(1).cpu()
        captures[name] = hit.amax(1)
        quantities = {
            "captured": (hit >= 0).double().mean(1),
            "all_captured": torch.where((hit >= 0).all(1), hit.amax(1), options["max_steps"]),
            "strength": capture_strength(done.w, features).flatten(1).mean(1).cpu(),
        }
        runs.append(rows(quantities, gradient=name))
    gradients = []
    for r in range(problem.replicates):
        one = slice(r, r + 1)
        for moment, share in MOMENTS.items():
            steps, now = int(share * int(captures["true"][r])), w[one]
            if steps:
                until = {**options, "max_steps": steps}
                now = pretrain(x[one], features[one], now, problem.activation, **until).w
            quantities = theory.printed_against_true(
                x[one].double(), now.double(), options["theta"], problem.activation
            )
            gradients.append(rows(quantities, moment=moment).assign(replicate=r))
    return joined(*gradients), joined(*runs)


def ordinary_teacher(job: Job) -> pd.DataFrame:
    """Teacher-student training with ``tau = 1``.

    ``kept``: largest correlation at the end over that at the start; ``captured``: share of
    features.
    """
    config, settings = job.config, job.config["ordinary_teacher"]
    section = {**config, "network": {**config["network"], "q": settings["q"]}}
    problem = Problem("oracles", section, job.seed, job.device)
    w = problem.kernels()
    done = pretrain(
        problem.train.x, problem.features, w, problem.activation,
        theta=config["pretraining"]["theta"], schedule="one",
        learning_rate=settings["learning_rate"], max_steps=settings["steps"],
    )  # fmt: skip
    before, after = (capture_strength(v, problem.features).flatten(1) for v in (w, done.w))
    captured = after >= problem.activation.varrho
    return rows({
        "kept": after.amax(1) / before.amax(1), "captured": captured.double().mean(1)
    })  # fmt: skip


# --------------------------------------------------------------------------- the initial draw


def lottery(job: Job) -> Results:
    """Draw initial kernels of growing size; write down correlations and lottery sets."""
    config = job.config
    streams = Streams(job.seed, "mrp", "initialisation", range(config["replicates"]))
    frames = []
    for size in config["sizes"]:
        for kernels in size["kernels_per_class"]:
            drawn = streams(f"kernels-{size['classes']}-{kernels}")
            frames.append(lottery_frame(size["classes"], kernels, config["set_constants"], drawn))
    return {"lottery": joined(*frames)}


def lottery_frame(
    classes: int, kernels_per_class: int, constants: list[float], streams: list[torch.Generator]
) -> pd.DataFrame:
    """Initial correlations and lottery sets of one size, a row a replicate, constant and quantity.

    What does not depend on the constant (the initial correlations) has NaN there. Two features a
    class. Kernels are ``N(0, I)`` and the features are coordinate axes: by rotation any orthonormal
    set gives the same law, and ``sigma_0`` scales all alike.
    """
    kernels, features = classes * kernels_per_class, 2 * classes
    leading = expected_largest_gaussian(kernels)
    quantities: list[tuple[int, float, str, float]] = []
    for replicate, stream in enumerate(streams):
        drawn = torch.randn((1, kernels, classes, 2), generator=stream)
        ratio = drawn.amax(1).clamp_min(0).flatten() / leading
        for name, value in {
            "ratio_mean": ratio.mean(), "ratio_least": ratio.amin(), "ratio_largest": ratio.amax()
        }.items():  # fmt: skip
            quantities.append((replicate, math.nan, name, float(value)))
        for constant in constants:
            sets = lottery_sets(drawn, constant)
            members = sets.sum(1).flatten()
            shared = memberships(sets)[0] > 1
            mean_size = float(members.double().mean())
            touched = (sets[0] & shared.view(-1, 1, 1)).any(0)
            for name, number in {
                "set_size": mean_size,
                "largest_set": float(members.max()),
                "shared_kernels": float(shared.sum()),
                "expected_shared_kernels": expected_shared(kernels, features, mean_size),
                "disjoint_sets": 1 - float(touched.double().mean()),
            }.items():
                quantities.append((replicate, constant, name, number))
    frame = pd.DataFrame(quantities, columns=["replicate", "constant", "quantity", "value"])
    frame.insert(0, "classes", classes)
    frame.insert(1, "kernels_per_class", kernels_per_class)
    return frame
