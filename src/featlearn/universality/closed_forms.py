"""What chapter 7 gives in closed form. No torch."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit

# On what Lemma F.3 leaves (section F.2.3). Labels are linear in the features of one task; after a
# pre-training on T tasks its private features have the weight 1 / T (Proposition F.8, r = 2 s). The
# probe is least squares among all vectors of at most the norm that fits the labels without noise.


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
