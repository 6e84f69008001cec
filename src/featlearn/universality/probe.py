"""A linear probe on what Lemma F.3 leaves: its risk against labels (section F.2.3).

Labels are linear in the features of one task; after a pre-training on T tasks its private features
have the weight 1 / T. The probe is least squares among all vectors of at most the norm that fits
the labels without noise.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq


def constrained_least_squares(x: np.ndarray, y: np.ndarray, most: float) -> np.ndarray:
    """The minimiser of ``|x u - y|^2`` with ``|u| <= most``."""
    left, size, right = np.linalg.svd(x, full_matrices=False)
    along = left.T @ y
    kept = size > 1e-10 * size[0]
    left, size, right, along = left[:, kept], size[kept], right[kept], along[kept]

    def excess(log_ridge: float) -> float:
        return float(np.linalg.norm(size * along / (size**2 + np.exp(log_ridge))) - most)

    plain = along / size
    if np.linalg.norm(plain) <= most:
        return np.asarray(right.T @ plain)
    top = float(np.log(size[0] * np.linalg.norm(along) / most)) + 1
    ridge = float(np.exp(brentq(excess, -60, top, xtol=1e-12)))
    return np.asarray(right.T @ (size * along / (size**2 + ridge)))


def excess_risk(
    random: np.random.Generator, sizes: tuple[int, int], tasks: int, labels: int, noise: float
) -> float:
    """Mean squared error of the probe without the noise, one draw of labels and their task.

    The label's coefficients have squared norm 1/2 on the shared and on the private features.
    """
    parts = [random.standard_normal(size) for size in sizes]
    true = np.concatenate([part / np.linalg.norm(part) / np.sqrt(2) for part in parts])
    root = np.repeat([1.0, tasks**-0.5], sizes)
    z = random.standard_normal((labels, sum(sizes)))
    y = z @ true + noise * random.standard_normal(labels)
    u = constrained_least_squares(z * root, y, float(np.linalg.norm(true / root)))
    return float(((root * u - true) ** 2).sum())
