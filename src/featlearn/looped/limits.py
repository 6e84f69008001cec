"""Condition numbers that random matrix theory predicts, and the earlier theorem. No torch."""

from __future__ import annotations

import math

#: Mean of the Tracy-Widom law of order one, of the largest eigenvalue of real matrices.
TRACY_WIDOM_MEAN = -1.2065335745820


def edge_limit(ratio: float) -> float:
    """Condition number in the limit of Marchenko and Pastur, of n / d = ``ratio``."""
    root = 1 / math.sqrt(ratio)
    return ((1 + root) / (1 - root)) ** 2


def expected_kappa(examples: int, dimension: int) -> float:
    """The same at a finite dimension: both edges with the mean of their Tracy-Widom law.

    Centred as in Ma (2012), which leaves an error of order d^(-2/3) of the edge's own width.
    """
    wide, narrow = math.sqrt(examples - 0.5), math.sqrt(dimension - 0.5)
    edges = []
    for sign in (1, -1):
        sum_, slope = wide + sign * narrow, 1 / narrow + sign / wide
        edges.append(sum_**2 + sign * sum_ * slope ** (1 / 3) * TRACY_WIDOM_MEAN)
    return edges[0] / edges[1]
