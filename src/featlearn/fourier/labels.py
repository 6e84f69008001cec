"""What things are called in figures and tables."""

from __future__ import annotations

from featlearn.core.publish import Config

#: Arms of the cell ``decay``, and how they are drawn.
ARMS = {
    "penalty": ("penalty on the norm", "blue"),
    "weak-decay": ("weight decay of the same number", "orange"),
    "strong-decay": ("strong weight decay", "red"),
}

#: Of a trained network, in the order of the tables; see ``experiments/training.py``.
QUANTITIES = {
    "train": "training accuracy",
    "test": "test accuracy",
    "least": "least margin",
    "mean": "mean margin",
    "single": "of one frequency",
    "peak": "largest power",
    "residual": "phases off by",
    "equal": "weakest frequency",
}

#: How inputs are split.
SPLITS = {"tuples": "at random", "orbits": "by orbits"}


def task(k: int, p: int) -> str:
    """``3 numbers mod 7``."""
    return f"{k} numbers mod {p}"


def task_of(config: Config, cell: str) -> str:
    """That of a cell."""
    return task(config[cell]["inputs"], config[cell]["modulus"])
