"""Means and intervals of quantities that lie between 0 and 1."""

from __future__ import annotations

import numpy as np
import pandas as pd

from featlearn.core.stats import estimate


def intervals(frame: pd.DataFrame, by: str, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Means over replicates and their 95 % intervals, cut at 0 and 1.

    Returns
    -------
    means : (points,)
    lengths : (2, points)
        Below and above the mean, as ``errorbar`` takes them; none for a single replicate.
    """
    seen = [estimate(frame[frame[by] == point]["value"].to_numpy()) for point in points]
    means = np.array([one.mean for one in seen])
    half = np.nan_to_num([one.half_width for one in seen])
    # rounding can put a mean of ones just above 1
    room = np.clip([means, 1 - means], 0, None)
    return means, np.minimum(half, room)
