"""The gradient as printed, and the initial draw."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import pandas as pd
import torch
from torch import Tensor

from featlearn.core.frames import tidy
from featlearn.core.seeds import Streams
from featlearn.mrp import oracles as theory
from featlearn.mrp.kernels import lottery_sets, memberships
from featlearn.mrp.measure import joined, rows
from featlearn.mrp.model import Activation

if TYPE_CHECKING:
    from featlearn.core.job import Job
    from featlearn.core.outputs import Results

#: Sizes of the random instances.
SIZES = {"samples": 2, "patches": 6, "dimension": 5, "kernels": 6}
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
