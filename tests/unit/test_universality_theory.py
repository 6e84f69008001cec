"""Chapter 7 in closed form: identities, allocations, thresholds, probes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, gamma, roots_genlaguerre

from featlearn.universality.closed_forms import (
    constrained_least_squares,
    on_sphere,
    pair_loss,
    three_states,
    threshold,
)

# A sample belongs to one of T tasks. With a linear representation phi(x) = W x, |W| <= 1,
# |W|_F^2 <= s + q, the loss E ell(phi(x)^T (phi(x^+) - E phi(x^-))) depends on W through weights of
# the features alone: alpha on the shared ones, alpha_t on the private ones of task t.

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


def test_theorem_7_1_by_enumeration() -> None:
    random = np.random.default_rng(0)
    table = random.standard_normal((5, 4, 3))  # phi of invariant and spurious state
    p = random.dirichlet(np.ones(5))
    q = random.dirichlet(np.ones(4), size=5)  # of the spurious state, given the invariant one
    means = np.einsum("ru,ruk->rk", q, table)
    centre = p @ means
    loss = 0.0
    for r in range(5):
        for u in range(4):
            for other in range(4):
                weight = p[r] * q[r, u] * q[r, other]
                loss -= weight * table[r, u] @ (table[r, other] - centre)
    assert loss == pytest.approx(-p @ np.square(means - centre).sum(1), abs=1e-12)


@pytest.mark.parametrize(
    ("weights", "size", "scales", "loss", "shared", "private", "value"),
    [
        ((0.5, 0.5), 4, (1, 1), "logistic", 1, (0.5, 0.5), 0.0258896),
        ((1,), 2, (1, 1), "logistic", 1, (1,), 0.0958747),
        ((0.7, 0.3), 4, (1, 1), "logistic", 1, (0.64474, 0.35526), 0.024435),
        ((0.7, 0.2, 0.1), 4, (1, 1), "logistic", 1, (0.66221, 0.25339, 0.08440), 0.029701),
        ((0.7, 0.3), 2, (1, 1), "logistic", 1, (0.72508, 0.27492), 0.135563),
        ((0.5, 0.5), 4, (0.7, 1), "logistic", 0.98901, (0.50549, 0.50549), 0.058465),
        ((0.9, 0.1), 4, (1, 1), "exponential", 1, (0.85067, 0.14933), 0.020292),
        ((0.5, 0.5), 4, (0.5, 1), "exponential", 0.5, (0.75, 0.75), 0.1024),
        ((1 / 16,) * 16, 4, (1, 1), "logistic", 1, (1 / 16,) * 16, 0.0776356),
        ((0.99, 0.01), 4, (1, 1), "logistic", 1, (1, 0), 0.012498),
        ((0.4, 0.3, 0.2, 0.1), 2, (1, 1), "logistic", 1, (0.48698, 0.34381, 0.16921, 0), 0.174666),
        ((0.5, 0.5), 4, (0.5, 1), "logistic", 0.43811, (0.78095, 0.78095), 0.091109),
        ((0.5, 0.5), 4, (1, (1, 0.5)), "logistic", 1, (0.51452, 0.48548), 0.044882),
        ((0.7, 0.3), 2, (1, 1), "exponential", 1, (0.70871, 0.29129), 0.159710),
    ],
)
def test_optimum_of_pretraining(weights, size, scales, loss, shared, private, value) -> None:
    found = allocation(Mixture(size, size, weights, *scales), loss)
    assert found.shared == pytest.approx(shared, abs=1e-4)
    assert found.private == pytest.approx(private, abs=1e-4)
    assert found.loss == pytest.approx(value, abs=1e-6)


def test_exponential_loss_has_a_closed_form_and_a_right_gradient() -> None:
    mixture = Mixture(3, 2, (0.6, 0.4), 1.2, (0.8, 1.1))
    at = pretraining_loss(mixture, "exponential")
    a = np.array([0.7, 0.4, 0.3])
    of_shared, of_private = mixture.variances()
    each = (1 + 2 * of_shared * a[0]) ** -1.5 * (1 + 2 * of_private * a[1:]) ** -1.0
    value, gradient = at(a)
    assert value == pytest.approx(float(np.array(mixture.weights) @ each), rel=1e-9)
    for place in range(3):
        step = np.eye(3)[place] * 1e-6
        assert gradient[place] == pytest.approx(
            (at(a + step)[0] - at(a - step)[0]) / 2e-6, rel=1e-5
        )


@pytest.mark.parametrize(
    ("b", "norm", "near", "far"),
    [(0.05, 1.1902, 0.0405, 1.176), (0.1, 0.9864, 0.0353, 1.172), (0.15, 0.8060, 0.0287, 1.148),
     (0.2, 0.5887, 0.0191, 1.046), (0.24, 0.2776, 0.0056, 0.544)],
)  # fmt: skip
def test_how_far_rare_states_are_apart_above_the_threshold(b, norm, near, far) -> None:
    assert threshold(b) == pytest.approx(norm, abs=1e-4)
    assert threshold(0.25) == 0
    assert three_states(b, 0.99 * threshold(b)) < 1e-6
    assert three_states(b, 1.01 * threshold(b)) == pytest.approx(near, abs=1e-3)
    assert three_states(b, 2 * threshold(b)) == pytest.approx(far, abs=1e-3)


def test_four_states_are_a_square_on_the_circle_and_a_simplex_on_a_sphere() -> None:
    random = np.random.default_rng(1)
    pairs = {2: (1.0, 1.0, 2.0), 3: (4 / 3,) * 3}  # 1 - cosine with the three others
    for dimension, others in pairs.items():
        wanted = (4 * np.log(2) + 4 * np.log1p(np.exp(-np.array(others))).sum()) / 16
        for _ in range(20):
            _, loss = on_sphere(random.standard_normal((4, dimension)), 1.0, np.full(4, 0.25))
            assert loss == pytest.approx(wanted, abs=1e-9)


def test_gradient_of_points() -> None:
    random = np.random.default_rng(2)
    points, p = random.standard_normal((4, 3)), random.dirichlet(np.ones(4))
    _, slope = pair_loss(points, p)
    step = np.zeros((4, 3))
    step[1, 2] = 1e-6
    numeric = (pair_loss(points + step, p)[0] - pair_loss(points - step, p)[0]) / 2e-6
    assert slope[1, 2] == pytest.approx(numeric, rel=1e-6)


def test_probe_is_the_constrained_optimum() -> None:
    random = np.random.default_rng(3)
    x, y = random.standard_normal((12, 5)), random.standard_normal(12)
    free = constrained_least_squares(x, y, 100.0)
    assert free == pytest.approx(np.linalg.lstsq(x, y, rcond=None)[0], abs=1e-10)
    most = np.linalg.norm(free) / 2
    bound = constrained_least_squares(x, y, most)
    assert np.linalg.norm(bound) == pytest.approx(most, rel=1e-6)
    slope = x.T @ (x @ bound - y)  # antiparallel to u where the norm binds
    assert slope @ bound == pytest.approx(-np.linalg.norm(slope) * most, rel=1e-6)
