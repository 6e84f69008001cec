"""The gradient as printed, and the initial draw."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import pandas as pd
import torch
from torch import Tensor

from featlearn.core.evidence.frames import tidy
from featlearn.core.seeds import Streams, draws
from featlearn.core.training.losses import relative_error
from featlearn.mrp.gradients import mae_descent, mae_descent_as_printed
from featlearn.mrp.kernels import lottery_sets, memberships
from featlearn.mrp.measure import joined, rows
from featlearn.mrp.model import Activation

if TYPE_CHECKING:
    from featlearn.core.run.job import Job
    from featlearn.core.run.outputs import Results

#: Sizes of the random instances.
SAMPLES, PATCHES, DIMENSION, KERNELS = 2, 6, 5, 6
#: Standard deviation of the kernels beside parallel patches: the products fall on all three
#: branches of the activation.
IDENTITY_STD = 0.3
VARRHO = 0.3


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

    def check(prefix: str, given: Instance, std: float) -> None:
        seen = printed_against_true(given, activation)
        named = {f"{prefix}_{name}": value for name, value in seen.items()}
        frames.append(rows(named, q=q, kernel_std=float(std)))

    for std in stds:
        check("printed", random_instance(streams(f"instance-{q}-{std}"), std), std)
    given = random_instance(streams(f"identity-{q}"), IDENTITY_STD)
    check("parallel", parallel_instance(given), IDENTITY_STD)
    return joined(*frames)


class Instance(NamedTuple):
    """Random inputs: ``x`` (R, N, P, d), ``w`` (R, K, d), ``theta`` (R,), float64."""

    x: Tensor
    w: Tensor
    theta: Tensor


def random_instance(streams: Sequence[torch.Generator], kernel_std: float) -> Instance:
    """Gaussian patches and kernels, ``theta`` in [0.1, 0.9]."""
    double = {"dtype": torch.float64}
    return Instance(
        x=draws(torch.randn, streams, SAMPLES, PATCHES, DIMENSION, **double),
        w=kernel_std * draws(torch.randn, streams, KERNELS, DIMENSION, **double),
        theta=0.1 + (0.9 - 0.1) * draws(torch.rand, streams, **double),
    )


def parallel_instance(given: Instance) -> Instance:
    """One kernel and patches along it, the case in which the printed vector is the gradient."""
    w = given.w[:, :1]
    along = (given.x[..., :1] + 0.5).abs()
    x = along * torch.nn.functional.normalize(w, dim=-1).unsqueeze(2)
    return given._replace(x=x, w=w)


def printed_against_true(given: Instance, activation: Activation) -> dict[str, Tensor]:
    """Fact 2.2 as printed against the gradient: relative error and cosine, (R,) each."""
    printed, true = mae_descent_as_printed(*given, activation), mae_descent(*given, activation)
    cosine = torch.cosine_similarity(printed.flatten(1), true.flatten(1), dim=1)
    return {"relative_error": relative_error(printed, true), "cosine": cosine}


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
