"""Proposition F.9: what the contrastive loss on one task makes of a representation of all.

From the canonical optimum of a pre-training on T tasks, descend the target's loss (F.38) within
``|W - W*|_F <= gamma`` and ``|W|_2 <= 1``. The proposition says where that ends:

    alpha = 1,   sqrt(beta) = min(1, 1 / sqrt T + gamma / sqrt q),   other tasks stay at 1 / T.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import expit

from featlearn.universality.linear import Mixture

#: Alternations of the projection onto both balls, steps of the descent, and latent samples.
ALTERNATIONS, STEPS, SAMPLES = 200, 200, 2000


def predicted(private: int, tasks: int, radius: float) -> float:
    """Weight of the target's private features (beta)."""
    return float(min(1.0, tasks**-0.5 + radius / private**0.5) ** 2)


def canonical(mixture: Mixture) -> np.ndarray:
    """An optimum of pre-training on equal tasks, (k, k): square roots of 1 and 1 / T."""
    tasks = len(mixture.weights)
    root = np.repeat([1.0, tasks**-0.5], [mixture.shared, mixture.private * tasks])
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


def regularised(mixture: Mixture, radius: float, random: np.random.Generator) -> np.ndarray:
    """Squared singular weights ``diag(W^T W)`` at the end of projected gradient descent, (k,).

    The target's loss is that of latent samples, logistic; invariant features only, of task 0.
    """
    centre = canonical(mixture)
    own = mixture.shared + mixture.private
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
