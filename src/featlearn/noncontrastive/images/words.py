"""How the cells of Figure 2 and the data sets are called in tables and figures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from featlearn.noncontrastive.images.cells import MAIN

HEADS = {
    "none": "no head",
    "identity": "identity-initialised",
    "linear": "random linear",
    "mlp": "two-layer MLP",
}
NORMS = {"batch": "batch norm", "l2": "ℓ₂ norm"}
TARGETS = {"self": "same network", "ema": "moving average"}
ARMS = {
    "with-head": "with a head",
    "without-head": "without a head",
    "untrained": "untrained",
}
LAYERS = {"projection": "projection head", "encoder": "encoder"}
SETS = {
    "digits": "digits of 8 × 8 pixels",
    "cifar10": "CIFAR-10",
    "cifar100": "CIFAR-100",
    "stl10": "STL-10",
}


def set_name(data_set: str) -> str:
    """A data set in words; its own name if it has none."""
    return SETS.get(data_set, data_set)


def ordered(sets: Mapping[str, Any]) -> dict[str, Any]:
    """Data sets in the order of their panels: the one that captions quote first."""
    return {name: sets[name] for name in sorted(sets, key=lambda name: (name != MAIN, name))}
