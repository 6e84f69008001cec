"""Summaries over replicates."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

#: What the ``spread`` of an :class:`Estimate` is, in words, for tables and the ledger.
SPREAD_KIND = "half-width of the 95 % t-interval over replicates"


@dataclass(frozen=True)
class Estimate:
    """Mean over replicates with a two-sided 95 % Student-t interval."""

    mean: float
    half_width: float
    replicates: int

    @property
    def low(self) -> float:
        return self.mean - self.half_width

    @property
    def high(self) -> float:
        return self.mean + self.half_width


def estimate(values: np.ndarray) -> Estimate:
    """Mean and 95 % t-interval of independent replicates.

    Parameters
    ----------
    values
        One number a replicate, shape ``(R,)``.

    Raises
    ------
    ValueError
        If ``values`` is empty or holds a non-finite number: a lost replicate must not vanish.
    """
    values = np.asarray(values, dtype=np.float64).ravel()
    if values.size == 0:
        raise ValueError("values: expected one number a replicate, got none")
    if not np.isfinite(values).all():
        raise ValueError(f"values: expected finite numbers, got {values.tolist()}")
    mean = float(values.mean())
    if values.size == 1:
        return Estimate(mean, math.nan, 1)
    from scipy.special import stdtrit  # slow to import

    error = float(values.std(ddof=1)) / math.sqrt(values.size)
    return Estimate(mean, float(stdtrit(values.size - 1, 0.975)) * error, values.size)
