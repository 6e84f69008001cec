"""The oracles themselves: enumeration, slopes, races, and the controls that train."""

import numpy as np
import pytest
import torch

from featlearn.core.seeds import Streams
from featlearn.mrp import oracles
from featlearn.mrp.experiments.oracles import lottery_frame
from featlearn.mrp.kernels import expected_shared
from featlearn.mrp.model import Activation, encode
from featlearn.mrp.oracles import bound, race

ACTIVATION = Activation(3, 0.3)


def instance(kernel_std=0.3, replicates=3):
    streams = Streams(0, "mrp", "oracle-test", range(replicates))("instance")
    return oracles.random_instance(
        streams, ACTIVATION, samples=2, patches=4, dimension=3, kernels=3, kernel_std=kernel_std
    )


def test_enumeration_agrees_with_sampling_of_masks():
    given = instance(replicates=1)
    scale = 1 / given.theta
    stream = torch.Generator().manual_seed(0)
    losses = []
    for _ in range(1000):
        mask = (torch.rand(1, 2, 4, 1, generator=stream) < given.theta).double()
        h = encode(mask * given.x, given.w, ACTIVATION.q, ACTIVATION.varrho)
        losses.append(((given.target - scale * h) ** 2).sum(-1).mean().item() / 2)
    wanted = oracles.enumerated_teacher_student_loss(given, given.w, scale).item()
    error = np.std(losses) / np.sqrt(len(losses))
    assert abs(np.mean(losses) - wanted) < 4 * error


def test_every_identity_holds_to_rounding_and_the_printed_gradient_does_not():
    given = instance()
    errors = oracles.identity_errors(given)
    best = errors.pop("best_scale")
    assert ((best > 0) & (best < 1)).all()
    for name, error in errors.items():
        assert error.max() < 1e-12, name
    printed = oracles.printed_against_true(given.x, given.w, given.theta, ACTIVATION)
    assert printed["relative_error"].min() > 0.1
    x, w = oracles.parallel_instance(given)
    parallel = oracles.printed_against_true(x, w, given.theta, ACTIVATION)
    assert parallel["relative_error"].max() < 1e-12


def test_the_best_scale_is_that_of_the_formula():
    given = instance()
    alone = oracles.Instance(given.x[:, :1], given.w[:, :1], given.theta, given.tau, ACTIVATION)
    x, w = oracles.parallel_instance(alone)  # every patch is active
    alone = oracles.Instance(x, w, given.theta, given.tau, ACTIVATION)
    s = encode(x.transpose(1, 2), w, 3, 0.3).squeeze(-1)  # a patch a "sample"
    total, squares = s.sum(1), (s**2).sum(1)
    wanted = given.theta * total**2 / (given.theta * total**2 + (1 - given.theta) * squares)
    torch.testing.assert_close(oracles.identity_errors(alone)["best_scale"], wanted)


@pytest.mark.parametrize("q", [2, 3, 4])
def test_the_slopes_of_one_kernel(q):
    streams = Streams(0, "mrp", "oracle-test", range(20))(f"slopes-{q}")
    found = oracles.teacher_factor_errors(streams, Activation(q, 0.3))
    assert found["polynomial_slope"].max() < 1e-12
    assert found["captured_slope"].max() < 1e-12
    assert found["critical_factor"].max() == 0


# --------------------------------------------------------------------------- races


def noises(count):
    return [np.random.default_rng(seed) for seed in range(count)]


@pytest.mark.parametrize("q", [3, 5, 7])
def test_who_starts_ahead_wins_and_the_other_stays_below_the_bound(q):
    ratio, ahead = np.array([0.5, 1.0, 2.0]), np.array([0.1, 0.1, 0.2])
    found = race(q, ratio, ahead, noises(3), length=3000)
    assert (found < 1.001 * bound(q, ahead)).all()
    assert (found > 1).all()
    assert np.isinf(race(q, ratio, -ahead, noises(3), length=3000)).all()


def test_the_bound_is_polylogarithmic_in_the_head_start():
    # ((q-2) h)^(-1/(q-2)) for a small head start
    assert bound(3, np.array([1e-4]))[0] == pytest.approx(1e4, rel=1e-3)
    assert bound(5, np.array([1e-4]))[0] == pytest.approx((3e-4) ** (-1 / 3), rel=1e-3)


def test_the_expected_number_of_shared_kernels():
    stream = torch.Generator().manual_seed(0)
    p, kernels, features = 0.02, 400, 30
    counts = (torch.rand(300, kernels, features, generator=stream) < p).sum(-1)
    seen = (counts > 1).double().sum(-1).mean().item()
    assert expected_shared(kernels, features, p * kernels) == pytest.approx(seen, rel=0.03)


def test_lottery_rows_count_what_they_say():
    streams = Streams(0, "mrp", "oracle-test", range(2))("lottery")
    frame = lottery_frame(5, 6, [0.25, 1.0], streams)
    seen = frame.set_index(["replicate", "constant", "quantity"])["value"]
    for replicate in range(2):
        assert 1 <= seen[replicate, 0.25, "set_size"] <= seen[replicate, 1.0, "set_size"] <= 30
        assert seen[replicate, 0.25, "shared_kernels"] <= seen[replicate, 1.0, "shared_kernels"]
        assert 0 <= seen[replicate, 1.0, "disjoint_sets"] <= 1
    first = frame[frame["constant"].isna() & (frame["replicate"] == 0)]
    ratios = first.set_index("quantity")["value"]
    assert ratios["ratio_least"] <= ratios["ratio_mean"] <= ratios["ratio_largest"]
