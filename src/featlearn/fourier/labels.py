"""What things are called in figures and tables."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from featlearn.core.frames import pick
from featlearn.core.publish import Config
from featlearn.core.stats import per_replicate

#: Of a trained network, in the order of the tables; see ``experiments/training.py``.
QUANTITIES = {
    "train": "training accuracy", "test": "test accuracy", "least": "least margin",
    "mean": "mean margin", "active": "active", "single": "of one frequency",
    "single of all": "of one frequency, of all", "peak": "largest power",
    "peak of all": "largest power, of all", "residual": "phases off by",
    "equal": "weakest frequency",
}  # fmt: skip
#: How inputs are split.
SPLITS = {"tuples": "at random", "orbits": "by orbits"}


def task(k: int, p: int) -> str:
    """``3 numbers mod 7``."""
    return f"{k} numbers mod {p}"


def task_of(config: Config, cell: str) -> str:
    """That of a cell."""
    return task(config[cell]["inputs"], config[cell]["modulus"])


def last(curves: pd.DataFrame, quantity: str, **where: Any) -> np.ndarray:
    """A quantity after the last step of an arm, one number a replicate."""
    own = pick(curves, **where)
    return per_replicate(own, step=own["step"].max(), quantity=quantity)
