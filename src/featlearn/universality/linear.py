"""The linear data model: what pre-training on a mixture of tasks learns (section 7.2.2).

A sample belongs to one of T tasks. Its latent vector has s features that all tasks share, q that
only its own task has, and spurious ones that an augmentation draws anew. With a linear
representation ``phi(x) = W x``, ``|W| <= 1``, ``|W|_F^2 <= s + q``, the loss

    E ell(phi(x)^T (phi(x^+) - E phi(x^-)))                                         (F.38)

depends on W through weights of the features alone (Lemma F.3): ``alpha`` on the shared ones,
``alpha_t`` on the private ones of task t, nothing on the spurious ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, gamma, roots_genlaguerre

#: Nodes of a Gauss-Laguerre rule in each of two directions.
NODES = 60

Function = Callable[[np.ndarray], np.ndarray]


class Loss(NamedTuple):
    """A loss of the margin t and its slope."""

    value: Function
    slope: Function


#: Losses of the margin t: convex and decreasing.
LOSSES = {
    "logistic": Loss(lambda t: np.logaddexp(0, -t), lambda t: -expit(-t)),
    "exponential": Loss(lambda t: np.exp(-t), lambda t: -np.exp(-t)),
    "linear": Loss(lambda t: -t, lambda t: -np.ones_like(t)),
}


@dataclass(frozen=True)
class Mixture:
    """Tasks and their features.

    ``shared``, ``private``: features that all tasks share (s), and of each task alone (q).
    ``weights``: share of the samples of each task, T numbers that sum to 1. ``shared_scale``,
    ``private_scale``: standard deviations of the features in each task; one number for all, or T.
    """

    shared: int
    private: int
    weights: tuple[float, ...]
    shared_scale: float | Sequence[float] = 1.0
    private_scale: float | Sequence[float] = 1.0

    @classmethod
    def even(cls, shared: int, private: int, tasks: int) -> Mixture:
        """As many samples of each task."""
        return cls(shared, private, (1 / tasks,) * tasks)

    @property
    def budget(self) -> int:
        """Squared Frobenius norm that W may have (r): one task's features fit in."""
        return self.shared + self.private

    def variances(self) -> tuple[np.ndarray, np.ndarray]:
        """Of the shared and the private features, (T,) each."""
        ones = np.ones(len(self.weights))
        return ones * np.square(self.shared_scale), ones * np.square(self.private_scale)


class Allocation(NamedTuple):
    """What the optimum of pre-training gives to the features."""

    shared: float  #: alpha
    private: np.ndarray  #: (T,) alpha_t
    loss: float


def chi_square_rule(freedom: int, nodes: int = NODES) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights of the mean over a chi-square variable with ``freedom`` degrees."""
    x, weights = roots_genlaguerre(nodes, freedom / 2 - 1)
    return 2 * x, weights / gamma(freedom / 2)


def pretraining_loss(
    mixture: Mixture, loss: str
) -> Callable[[np.ndarray], tuple[float, np.ndarray]]:
    """The loss of (alpha, alpha_1, ..., alpha_T), and its gradient."""
    (z, p), (own, p_own) = (chi_square_rule(df) for df in (mixture.shared, mixture.private))
    both = p[:, None] * p_own
    of_shared, of_private = mixture.variances()
    weights, own_loss = np.asarray(mixture.weights), LOSSES[loss]

    def at(allocated: np.ndarray) -> tuple[float, np.ndarray]:
        shared = (allocated[0] * of_shared)[:, None, None] * z[:, None]
        t = shared + (allocated[1:] * of_private)[:, None, None] * own
        slope = own_loss.slope(t) * both
        by_shared = weights * of_shared * (slope * z[:, None]).sum((1, 2))
        by_private = weights * of_private * (slope * own).sum((1, 2))
        value = float(weights @ (own_loss.value(t) * both).sum((1, 2)))
        return value, np.r_[by_shared.sum(), by_private]

    return at


def allocation(mixture: Mixture, loss: str = "logistic") -> Allocation:
    """The optimum of Lemma F.3: a convex problem of T + 1 numbers, solved to rounding.

    Where several optima tie (the linear loss), the one nearest to an even start.
    """
    tasks, s, q = len(mixture.weights), mixture.shared, mixture.private
    cost = np.r_[s, np.full(tasks, q)]
    even = np.full(tasks + 1, mixture.budget / (s + tasks * q))
    found = minimize(
        pretraining_loss(mixture, loss), even, jac=True, method="SLSQP",
        bounds=[(0, 1)] * (tasks + 1), options={"ftol": 1e-15, "maxiter": 1000},
        constraints={"type": "ineq", "fun": lambda a: mixture.budget - cost @ a,
                     "jac": lambda a: -cost},
    )  # fmt: skip
    allocated = np.clip(found.x, 0, 1)
    return Allocation(float(allocated[0]), allocated[1:], float(found.fun))
