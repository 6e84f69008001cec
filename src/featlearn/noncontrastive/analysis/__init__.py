"""Figures, tables and claims of this paper, a module an experiment. Imports no torch.

Unless a module says otherwise, bands rest on the theory and on pilot runs with other streams.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from featlearn.core.drawing.plots import COLOURS, PALETTE
from featlearn.core.evidence.stats import per_replicate
from featlearn.noncontrastive.images.cells import MAIN

HEADS = {
    "none": "no head",
    "identity": "identity-initialised",
    "linear": "random linear",
    "mlp": "two-layer MLP",
}
NORMS = {"batch": "batch norm", "l2": "ℓ₂ norm"}
TARGETS = {"self": "same network", "ema": "moving average"}
ARMS = {"with-head": "with a head", "without-head": "without a head", "untrained": "untrained"}
LAYERS = {"projection": "projection head", "encoder": "encoder"}
SETS = {
    "digits": "digits of 8 × 8 pixels",
    "pictures": "made pictures",
    "cifar10": "CIFAR-10",
    "cifar100": "CIFAR-100",
    "stl10": "STL-10",
}

#: The four products: colour by feature (blue strong, orange weak), line by neuron.
PRODUCTS = {
    "b11": (PALETTE["strong feature"], "-", "neuron 1, strong feature"),
    "b21": (PALETTE["strong feature"], "--", "neuron 2, strong feature"),
    "b12": (PALETTE["weak feature"], "-", "neuron 1, weak feature"),
    "b22": (PALETTE["weak feature"], "--", "neuron 2, weak feature"),
}
HEAD = {
    "e21": (COLOURS["green"], "-", r"head, $E_{2,1}$"),
    "e12": (COLOURS["purple"], "-", r"head, $E_{1,2}$"),
}


def set_name(data_set: str) -> str:
    """A data set in words; its own name if it has none."""
    return SETS.get(data_set, data_set)


def ordered(sets: Mapping[str, Any]) -> dict[str, Any]:
    """Data sets in the order of their panels: the one that captions quote first."""
    return {name: sets[name] for name in sorted(sets, key=lambda name: (name != MAIN, name))}


LEAST_REPLICATES = 3
#: Fewer steps than these show nothing of a training without labels.
LEAST_STEPS = 100


def too_small(replicates: int, training: Mapping[str, Any]) -> str | None:
    """Why so many replicates of a training cannot show a claim; None if they can."""
    steps = training.get("steps")
    if replicates >= LEAST_REPLICATES and (steps is None or steps >= LEAST_STEPS):
        return None
    least = f"{LEAST_REPLICATES} of {LEAST_STEPS}"
    return f"{replicates} replicates of {steps} steps; the band is meant for at least {least}."


def gain(values: pd.DataFrame, runs: tuple[str, str], **where: Any) -> np.ndarray:
    """First run minus second: a replicate has the same images and start for both."""
    first, second = (per_replicate(values, run=run, **where) for run in runs)
    return first - second
