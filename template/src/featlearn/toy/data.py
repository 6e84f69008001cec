"""The data model, and what the theory says of it."""

from __future__ import annotations

import numpy as np


def summed_views(
    random: np.random.Generator, views: int, dimension: int, noise: float
) -> np.ndarray:
    """Sum of ``views`` samples ``v + noise * xi``: ``v`` the first unit vector, ``xi`` Gaussian.

    Returns
    -------
    ndarray
        Shape (dimension,).
    """
    total = noise * random.standard_normal((views, dimension)).sum(0)
    total[0] += views
    return total


def predicted_cosine(views: int, dimension: int, noise: float) -> float:
    """Cosine between sum and feature, up to terms of order ``1 / dimension``."""
    return float(1 / np.sqrt(1 + noise**2 * dimension / views))
