"""What chapter 7 gives in closed form. No torch."""

from __future__ import annotations

from collections.abc import Callable
from math import log, sqrt

import numpy as np
from scipy.optimize import brentq, minimize
from scipy.special import expit

# Theorem 7.2 and section F.1.1. Each state z has a point ``h(z)`` with ``|h(z)| = B``; the loss is
# the mean over independent states of ``log(1 + exp(-h(z)^T (h(z) - h(z^-))))``.


def threshold(probability: float) -> float:
    """Norm up to which two of three states, of this probability each, are one to the encoder."""
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


# On what Lemma F.3 leaves (section F.2.3). Labels are linear in the features of one task; after a
# pre-training on T tasks its private features have the weight 1 / T. The probe is least squares
# among all vectors of at most the norm that fits the labels without noise.


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


# From the canonical optimum of a pre-training on T tasks, descend the target's loss (F.38) within
# ``|W - W*|_F <= gamma`` and ``|W|_2 <= 1``. The proposition says where that ends:
#
# alpha = 1,   sqrt(beta) = min(1, 1 / sqrt T + gamma / sqrt q),   other tasks stay at 1 / T.


#: Alternations of the projection onto both balls, steps of the descent, and latent samples.
ALTERNATIONS, STEPS, SAMPLES = 200, 200, 2000


def predicted(private: int, tasks: int, radius: float) -> float:
    """Weight of the target's private features (beta)."""
    return float(min(1.0, tasks**-0.5 + radius / private**0.5) ** 2)


def canonical(features: int, tasks: int) -> np.ndarray:
    """An optimum of pre-training on equal tasks, (k, k): square roots of 1 and 1 / T."""
    root = np.repeat([1.0, tasks**-0.5], [features, features * tasks])
    return np.diag(root)


def projected(weights: np.ndarray, centre: np.ndarray, radius: float) -> np.ndarray:
    """The nearest matrix with ``|W - centre|_F <= radius`` and ``|W|_2 <= 1`` (Dykstra)."""
    near, corrections = weights, [np.zeros_like(weights), np.zeros_like(weights)]

    def ball(each: np.ndarray) -> np.ndarray:
        away = each - centre
        return np.asarray(
            centre + away * min(1.0, radius / max(float(np.linalg.norm(away)), 1e-300))
        )

    def spectral(each: np.ndarray) -> np.ndarray:
        left, size, right = np.linalg.svd(each, full_matrices=False)
        return np.asarray((left * np.minimum(size, 1.0)) @ right)

    projections: list[Callable[[np.ndarray], np.ndarray]] = [ball, spectral]
    for _ in range(ALTERNATIONS):
        before = near
        for place, onto in enumerate(projections):
            raised = near + corrections[place]
            near = onto(raised)
            corrections[place] = raised - near
        if np.abs(near - before).max() < 1e-12:
            break
    return near


def regularised(
    features: int, tasks: int, radius: float, random: np.random.Generator
) -> np.ndarray:
    """Squared singular weights ``diag(W^T W)`` at the end of projected gradient descent, (k,).

    ``features``: shared ones, and as many private ones of each task. Task 0 is the target.
    """
    centre, own = canonical(features, tasks), 2 * features
    z = random.standard_normal((SAMPLES, own))
    weights = centre.copy()
    for step in range(STEPS):
        seen = z @ weights[:, :own].T
        slope = -expit(-(seen * seen).sum(1)) / SAMPLES
        gradient = np.zeros_like(weights)
        gradient[:, :own] = 2 * (slope[:, None] * seen).T @ z
        rate = 20.0 / (1 + step / 50)
        weights = projected(weights - rate * gradient, centre, radius)
    return np.asarray(np.square(weights).sum(0))
