"""What claims of several experiments read off the curves. No torch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from featlearn.core.frames import pick
from featlearn.core.stats import per_replicate


def last(curves: pd.DataFrame, quantity: str, **where: Any) -> np.ndarray:
    """A quantity after the last step of an arm, one number a replicate."""
    own = pick(curves, **where)
    return per_replicate(own, step=own["step"].max(), quantity=quantity)
