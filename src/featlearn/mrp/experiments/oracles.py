"""The gradient as printed; masks and draws by chance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd
import torch
from torch import Tensor

from featlearn.core.frames import tidy
from featlearn.core.seeds import Streams
from featlearn.mrp import oracles as theory
from featlearn.mrp.data import Problem
from featlearn.mrp.gradients import (
    teacher_factor,
    teacher_student_descent,
    teacher_student_descent_sampled,
)
from featlearn.mrp.kernels import lottery_sets, memberships
from featlearn.mrp.measure import joined, rows
from featlearn.mrp.model import Activation
from featlearn.mrp.train import pretrain

if TYPE_CHECKING:
    from featlearn.core.job import Job
    from featlearn.core.outputs import Results

#: Sizes of the random instances.
SIZES = {"samples": 2, "patches": 6, "dimension": 5, "kernels": 6}
#: Standard deviation of the kernels beside parallel patches: the products fall on all three
#: branches of the activation.
IDENTITY_STD = 0.3
VARRHO = 0.3
#: Moments of a training at which the two vectors are compared, with the step as a share of the
#: step at which the last feature was captured.
MOMENTS = {"at the start": 0.0, "half-way to the capture of the last feature": 0.5,
           "when the last feature is captured": 1.0}  # fmt: skip


def oracles(job: Job) -> Results:
    """Compare the vector of Fact 2.2 with the gradient on random instances."""
    config = job.config
    streams = Streams(job.seed, "mrp", "oracles", range(config["replicates"]))
    checks = [instances(q, config["kernel_std"], streams) for q in config["exponents"]]
    columns = ["quantity", "q", "kernel_std", "replicate", "value"]
    return {"instances": joined(*checks)[columns]}


def instances(q: int, stds: list[float], streams: Streams) -> pd.DataFrame:
    """All checks on random instances of one exponent."""
    activation, frames = Activation(q, VARRHO), []

    def instance(purpose: str, std: float) -> theory.Instance:
        return theory.random_instance(streams(purpose), kernel_std=std, **SIZES)

    def check(std: float, prefix: str, quantities: Mapping[str, Tensor]) -> None:
        named = {f"{prefix}{name}": value for name, value in quantities.items()}
        frames.append(rows(named, q=q, kernel_std=float(std)))

    for std in stds:
        given = instance(f"instance-{q}-{std}", std)
        printed = theory.printed_against_true(given.x, given.w, given.theta, activation)
        check(std, "printed_", printed)
    given = instance(f"identity-{q}", IDENTITY_STD)
    x, w = theory.parallel_instance(given)
    parallel = theory.printed_against_true(x, w, given.theta, activation)
    check(IDENTITY_STD, "parallel_", parallel)
    return joined(*frames)


# --------------------------------------------------------------------------- in a training


def printed_gradient(job: Job) -> Results:
    """Compare the two at the kernels of a training with the true gradient."""
    problem, options = (
        Problem("oracles", job.config, job.seed, job.device),
        job.config["pretraining"],
    )
    x, features, w = problem.train.x, problem.features, problem.kernels()
    done = pretrain(x, features, w, problem.activation, **options)
    last = done.hit.flatten(1).amax(1).tolist()
    gradients = []
    for r in range(problem.replicates):
        one = slice(r, r + 1)
        for moment, share in MOMENTS.items():
            steps, now = int(share * last[r]), w[one]
            if steps:
                until = {**options, "max_steps": steps}
                now = pretrain(x[one], features[one], now, problem.activation, **until).w
            quantities = theory.printed_against_true(
                x[one].double(), now.double(), options["theta"], problem.activation
            )
            gradients.append(rows(quantities, moment=moment).assign(replicate=r))
    return {"gradients": joined(*gradients)}


# --------------------------------------------------------------------------- masks by chance


def sampled_masks(job: Job) -> Results:
    """Estimate the teacher-student gradient from sampled masks, and compare with the exact one.

    ``error`` is ``|estimate - exact| / |exact|`` over all kernels.
    """
    config: Mapping[str, Any] = job.config
    problem = Problem("sampled-masks", config, job.seed, job.device)
    x, w, activation = problem.train.x, problem.kernels(), problem.activation
    room, quantities = problem.spec.patches_per_feature, []
    for theta in config["thetas"]:
        tau = float(teacher_factor("constant", 0, theta, room, activation.q))
        exact = teacher_student_descent(x, w, theta, activation, tau=tau)
        size = exact.flatten(1).norm(dim=1)
        for masks in config["masks"]:
            streams = problem.streams(f"masks-{theta}-{masks}")
            for replicate, stream in enumerate(streams):
                one = slice(replicate, replicate + 1)
                estimate = teacher_student_descent_sampled(
                    x[one], w[one], theta, activation, tau=tau, masks=masks, stream=stream
                )
                off = (estimate - exact[one]).norm() / size[replicate]
                quantities.append((theta, masks, replicate, float(off)))
    return {"errors": pd.DataFrame(quantities, columns=["theta", "masks", "replicate", "error"])}


# --------------------------------------------------------------------------- the initial draw


def lottery(job: Job) -> Results:
    """Count kernels that are in more than one lottery set of the initial draw.

    Two features a class. Kernels are ``N(0, I)`` and the features are coordinate axes: by rotation
    any orthonormal set gives the same law, and ``sigma_0`` scales all alike.
    """
    classes, each = job.config["classes"], job.config["kernels_per_class"]
    replicates = range(job.config["replicates"])
    streams = Streams(job.seed, "mrp", "initialisation", replicates)
    shared = []
    # one replicate after the other: the largest draws fill memory
    for stream in streams(f"kernels-{classes}-{each}"):
        drawn = torch.randn((1, classes * each, classes, 2), generator=stream)
        shared.append(int((memberships(lottery_sets(drawn)) > 1).sum()))
    return {"lottery": tidy({"replicate": replicates}, shared_kernels=shared)}
