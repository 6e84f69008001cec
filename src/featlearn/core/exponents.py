"""Exponents read off several sizes: between neighbouring ones, and judged at the largest.

A line through all sizes gives the small ones as much weight as those that a limit is about, and
does not say whether the exponent still moves.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd

from featlearn.core.stats import Estimate, estimate


def local_exponents(frame: pd.DataFrame, size: str, by: Sequence[str] = ()) -> pd.DataFrame:
    """``d log(value) / d log(size)`` between neighbouring sizes, each replicate by itself.

    ``frame``: columns ``by``, ``size``, replicate and value, which is more than 0. Returns
    DataFrame: Columns ``by``, replicate, smaller and ``size`` (the two sizes), value.
    """
    parts = []
    for key, own in frame.sort_values(size, kind="stable").groupby([*by, "replicate"], sort=False):
        sizes = own[size].to_numpy(dtype=float)
        value = np.diff(np.log(own["value"].to_numpy())) / np.diff(np.log(sizes))
        about = dict(zip([*by, "replicate"], key, strict=True))
        parts.append(
            pd.DataFrame({**about, "smaller": sizes[:-1], size: sizes[1:], "value": value})
        )
    return pd.concat(parts, ignore_index=True)


def by_size(exponents: pd.DataFrame, size: str) -> np.ndarray:
    """Local exponents of one quantity, shape (replicates, sizes - 1): the largest size last."""
    wide = exponents.pivot(index="replicate", columns=size, values="value")  # noqa: PD010
    return wide.to_numpy()


def estimate_exponent(values: np.ndarray) -> Estimate:
    """The local exponent at the largest size.

    Its t-interval is wider by the last change at either end: an exponent that still moves is known
    no better than that. Of a single local exponent nothing says whether it moves: no interval.

    ``values``: as :func:`by_size` gives them.
    """
    last = estimate(values[:, -1])
    move = float(np.ptp(values[:, -2:].mean(axis=0))) if values.shape[1] > 1 else math.nan
    return Estimate(last.mean, last.low - move, last.high + move, last.replicates)
