"""What the initial draw decides: correlations at the start and the lottery sets."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import pandas as pd
import torch

from featlearn.core.seeds import Streams
from featlearn.mrp.lottery import (
    expected_largest_gaussian,
    expected_shared,
    lottery_sets,
    memberships,
)

if TYPE_CHECKING:
    from featlearn.core.job import Job
    from featlearn.core.outputs import Results

#: Columns of ``lottery.parquet``: one row a size, replicate, set constant and quantity. What does
#: not depend on the constant (the initial correlations) has NaN there.
LOTTERY_COLUMNS = ("classes", "kernels_per_class", "replicate", "constant", "quantity", "value")


def lottery(job: Job) -> Results:
    """Draw initial kernels of growing size; write down correlations and lottery sets."""
    config = job.config
    streams = Streams(job.seed, "mrp", "initialisation", range(config["replicates"]))
    rows = [
        row
        for size in config["sizes"]
        for kernels in size["kernels_per_class"]
        for row in lottery_rows(
            size["classes"],
            kernels,
            config["set_constants"],
            streams(f"kernels-{size['classes']}-{kernels}"),
        )
    ]
    return {"lottery": pd.DataFrame(rows, columns=LOTTERY_COLUMNS)}


def lottery_rows(
    classes: int,
    kernels_per_class: int,
    constants: Sequence[float],
    streams: Sequence[torch.Generator],
) -> Iterator[tuple[int, int, int, float, str, float]]:
    """Initial correlations and lottery sets of one size, with :data:`LOTTERY_COLUMNS`.

    Two features a class. Kernels are ``N(0, I)`` and the features are coordinate axes: by rotation
    any orthonormal set gives the same law, and ``sigma_0`` scales all alike.
    """
    kernels, features = classes * kernels_per_class, 2 * classes
    leading = expected_largest_gaussian(kernels)
    for replicate, stream in enumerate(streams):
        drawn = torch.randn((1, kernels, classes, 2), generator=stream)
        ratio = drawn.amax(1).clamp_min(0).flatten() / leading
        size = (classes, kernels_per_class, replicate)
        yield *size, math.nan, "ratio_mean", float(ratio.mean())
        yield *size, math.nan, "ratio_least", float(ratio.amin())
        yield *size, math.nan, "ratio_largest", float(ratio.amax())
        for constant in constants:
            sets = lottery_sets(drawn, constant)
            members = sets.sum(1).flatten()
            per_kernel = memberships(sets)[0]
            mean_size = float(members.double().mean())
            own = per_kernel > 1
            touched = (sets[0] & own.view(-1, 1, 1)).any(0)
            for quantity, value in {
                "set_size": mean_size,
                "largest_set": float(members.max()),
                "shared_kernels": float(own.sum()),
                "expected_shared_kernels": expected_shared(kernels, features, mean_size),
                "disjoint_sets": 1 - float(touched.double().mean()),
            }.items():
                yield *size, constant, quantity, value
