"""Beyond the kernel regime, on the XOR of four Gaussians (Theorem B.42 and the remarks after it).

Opponents, sizes and bands come from a pilot of one replicate on other random streams.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from featlearn.core.claims import (
    CONTROL,
    DIFFERENCE_OF_SHARES,
    OBSERVATION,
    THEOREM,
    Claim,
    Measure,
    needs,
    read,
)

STARTED = ("random features", "tangent kernel")


def _lead(where: Mapping[str, Any], *opponents: str) -> Measure:
    """Network minus the best of the opponents, in each replicate."""

    def measure(frames: Mapping[str, pd.DataFrame]) -> np.ndarray:
        others = [read("accuracies", method=name, **where)(frames) for name in opponents]
        return read("accuracies", method="network", **where)(frames) - np.max(others, axis=0)

    return measure


def _growth(frames: Mapping[str, pd.DataFrame], noise: float) -> np.ndarray:
    """Accuracy of the RBF kernel at the largest minus the smallest dimension."""
    own = frames["accuracies"]
    own = own[(own["noise"] == noise) & (own["method"] == "RBF kernel")]
    wide = own.pivot_table(index="replicate", columns="dimension", values="value")
    # where the claims compare there are more replicates than elsewhere
    both = wide[[wide.columns.min(), wide.columns.max()]].dropna().to_numpy()
    return both[:, 1] - both[:, 0]


def _linear(frames: Mapping[str, pd.DataFrame]) -> np.ndarray:
    """Mean accuracy of a linear classifier minus chance, over the cells; replicates of all."""
    own = frames["accuracies"][frames["accuracies"]["method"] == "linear"]
    wide = own.pivot_table(index="replicate", columns=["dimension", "noise"], values="value")
    return wide.dropna().mean(axis=1).to_numpy() - 0.5


def claims(config: Mapping[str, Any]) -> tuple[Claim, ...]:
    """At the dimension and noise that the config names."""
    judged = config["opponents"]["judged"]
    where = {key: judged[key] for key in ("dimension", "noise")}
    noise = where["noise"]
    at = f"sigma_B = {noise:g}, d = {where['dimension']}"
    cell = f"with a noise of {noise:g} in {where['dimension']} dimensions"
    claim = partial(
        Claim,
        artefact="gradient_features/measurements/opponents.parquet",
        possible=DIFFERENCE_OF_SHARES,
        out_of_reach=needs(
            opponents__replicates=5, opponents__dimensions=400, opponents__steps=200,
            opponents__judged__dimension=200, opponents__judged__noise=4,
            opponents__judged__replicates=5,
            opponents__samples__train=1000,
        ),
    )  # fmt: skip
    return (
        claim("gradient_features/xor-beats-own-start", THEOREM, "Theorem B.42",
              f"A trained network learns the XOR {cell}, where the features of its own start do "
              "not suffice.", "test accuracy minus the better of random features and tangent "
              f"kernel, {at}, same inputs", 0.1, 0.5, "A tenth of the inputs; a pilot gave .23.",
              _lead(where, *STARTED),
              changed="The sentence names noise and dimension, after a review."),
        claim("gradient_features/xor-beats-best-opponent", THEOREM, "Theorem B.42",
              f"On the XOR {cell} a trained network beats the strongest method with fixed "
              "features, the RBF kernel.",
              f"test accuracy minus the best of all, {at}", 0.03, 0.5,
              "Three in a hundred; a pilot gave .09. Two runs of five replicates gave .07 "
              "and .04 +- .06, so that twenty are asked, on fresh streams.",
              _lead(where, *STARTED, "RBF kernel"),
              changed="Twenty replicates in place of five and fresh streams, after .04 to .09 and "
              "-.01 to .10 with two seeds; band kept. The sentence names noise and dimension, "
              "after a review: with more noise the kernel is not behind."),
        claim("gradient_features/xor-kernel-gains", OBSERVATION, "ours",
              "At a fixed noise the RBF kernel gets better with the dimension: its gap is not one "
              "of dimension, as centres of norm sqrt(d) make the XOR easier.",
              "accuracy of the RBF kernel at the largest minus the smallest dimension, "
              f"sigma_B = {noise:g}", 0.05, 0.5,
              "Clusters overlap by 1 / (1 + sigma^2) in the kernel's argument, noise by "
              "1 / sqrt(d); a pilot gave .23.", partial(_growth, noise=noise)),
        claim("gradient_features/xor-needs-features", CONTROL, "Assumption B.36",
              "No linear classifier knows anything of the XOR.",
              "accuracy of a linear classifier minus 1/2, mean over all dimensions and noises",
              -0.02, 0.02,
              "E[y x] = 0; twelve thousand inputs scatter by .005.", _linear),
    )  # fmt: skip
