"""Figures, tables and claims of this paper, a module an experiment. Imports no torch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from featlearn.core.evidence.frames import pick
from featlearn.core.evidence.stats import per_replicate
from featlearn.core.run.exhibits import Config


def task(k: int, p: int) -> str:
    """``3 numbers mod 7``."""
    return f"{k} numbers mod {p}"


def task_of(config: Config, cell: str) -> str:
    return task(config[cell]["inputs"], config[cell]["modulus"])


def last(curves: pd.DataFrame, quantity: str, **where: Any) -> np.ndarray:
    """A quantity after the last step of an arm, one number a replicate."""
    own = pick(curves, **where)
    return per_replicate(own, step=own["step"].max(), quantity=quantity)
