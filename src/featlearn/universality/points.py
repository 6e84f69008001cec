"""Small worlds of which the optimum of pre-training is known: Theorem 7.2 and section F.1.1.

Each state z has a point ``h(z)`` with ``|h(z)| = B``; the loss is the mean over independent states
of ``log(1 + exp(-h(z)^T (h(z) - h(z^-))))``.
"""

from __future__ import annotations

from math import log, sqrt

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit


def threshold(probability: float) -> float:
    """Norm up to which two of three states, of this probability each, are merged; then their
    feature is encoded.
    """
    return sqrt(max(0.0, log(1 / probability - 3) / 2)) if probability < 0.25 else 0.0


def pair_loss(points: np.ndarray, probabilities: np.ndarray) -> tuple[float, np.ndarray]:
    """The loss of points (n, k), and its gradient."""
    inner = points @ points.T
    t = np.diag(inner)[:, None] - inner
    weights = probabilities[:, None] * probabilities
    slope = -weights * expit(-t)
    by_inner = np.diag(slope.sum(1)) - slope
    return float((weights * np.logaddexp(0, -t)).sum()), (by_inner + by_inner.T) @ points


def on_sphere(
    start: np.ndarray, norm: float, probabilities: np.ndarray
) -> tuple[np.ndarray, float]:
    """Points of length ``norm`` at a local optimum, from ``start`` (n, k), and their loss."""

    def value(flat: np.ndarray) -> tuple[float, np.ndarray]:
        raw = flat.reshape(start.shape)
        length = np.linalg.norm(raw, axis=1, keepdims=True)
        unit = raw / length
        loss, slope = pair_loss(norm * unit, probabilities)
        slope = norm * (slope - (slope * unit).sum(1, keepdims=True) * unit) / length
        return loss, slope.ravel()

    found = minimize(value, start.ravel(), jac=True, method="L-BFGS-B",
                     options={"ftol": 1e-16, "gtol": 1e-11, "maxiter": 5000})  # fmt: skip
    raw = found.x.reshape(start.shape)
    return norm * raw / np.linalg.norm(raw, axis=1, keepdims=True), float(found.fun)


def three_states(probability: float, norm: float) -> float:
    """``1 - cos`` between the two rare states at the optimum; 0: their feature is not encoded."""
    start = np.array([[-1.0, 0.0], [1.0, 0.2], [1.0, -0.2]])
    weights = np.array([1 - 2 * probability, probability, probability])
    points, _ = on_sphere(start, norm, weights)
    return float(1 - points[1] @ points[2] / norm**2)
