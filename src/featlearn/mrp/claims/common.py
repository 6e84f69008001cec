"""What the claims of several experiments share."""

from __future__ import annotations

import numpy as np
import pandas as pd


def by_replicate(frame: pd.DataFrame, column: str = "value", how: str = "mean") -> np.ndarray:
    """One number a replicate: ``mean``, ``max``, ``min`` or ``median`` of its rows."""
    if frame.empty:
        raise KeyError(f"no rows to take the {how} of")
    return frame.groupby("replicate")[column].agg(how).sort_index().to_numpy(dtype=np.float64)
