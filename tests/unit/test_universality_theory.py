"""Chapter 7 in closed form: identities, allocations, thresholds, probes."""

import numpy as np
import pytest
from scipy.optimize import minimize

from featlearn.universality.closed_forms import (
    constrained_least_squares,
    on_sphere,
    pair_loss,
    three_states,
    threshold,
)


def allocated(s, q, weights, shared_scale=1.0, private_scale=1.0):
    """Lemma F.3 for the exponential loss: what the optimum of pre-training gives to the features.

    A linear representation of s shared features and q private ones a task weighs them with alpha
    and alpha_t, at most 1 and (s + q) in all. The mean of exp(-t) has a closed form, as t is a sum
    of chi-square variables. Gives (alpha, alpha_1, ..., alpha_T) and the loss.
    """
    weights, cost = np.array(weights), np.r_[s, np.full(len(weights), q)]

    def loss(a):
        shared, private = shared_scale**2 * a[0], np.square(private_scale) * a[1:]
        return weights @ ((1 + 2 * shared) ** (-s / 2) * (1 + 2 * private) ** (-q / 2))

    found = minimize(
        loss, np.full(len(cost), (s + q) / cost.sum()), method="SLSQP", bounds=[(0, 1)] * len(cost),
        options={"ftol": 1e-15, "maxiter": 1000},
        constraints={"type": "ineq", "fun": lambda a: s + q - cost @ a},
    )  # fmt: skip
    return found.x, found.fun


@pytest.mark.parametrize(("weights", "size", "scales", "wanted", "value"), [
    ((0.9, 0.1), 4, (1, 1), (1, 0.85067, 0.14933), 0.020292),
    ((0.5, 0.5), 4, (0.5, 1), (0.5, 0.75, 0.75), 0.1024),
    ((0.7, 0.3), 2, (1, 1), (1, 0.70871, 0.29129), 0.159710),
])  # fmt: skip
def test_optimum_of_pretraining(weights, size, scales, wanted, value) -> None:
    found, loss = allocated(size, size, weights, *scales)
    assert found == pytest.approx(wanted, abs=1e-4)
    assert loss == pytest.approx(value, abs=1e-6)


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
