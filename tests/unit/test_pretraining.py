"""The pre-training loop: what is captured, when it stops, what it leaves alone."""

import math

import pytest
import torch

from featlearn.core.errors import DivergedError
from featlearn.core.seeds import Streams
from featlearn.mrp.data import orthonormal_features, sample
from featlearn.mrp.gradients import mae_descent, mae_descent_as_printed
from featlearn.mrp.model import Activation, capture_strength, correlations, initial_kernels
from featlearn.mrp.train import OVERFLOW, pretrain
from unit.test_mrp_downstream import ACTIVATION, SPEC

REPLICATES = 3


def run(problem, activation=ACTIVATION, **changes):
    settings = {"theta": 0.5, "learning_rate": 0.5, "max_steps": 1500, "record_every": 20}
    return pretrain(*problem, activation, **{**settings, **changes})


def only(problem, r):
    return tuple(tensor[r : r + 1] for tensor in problem)


def numbers(*values):
    return torch.tensor(values, dtype=torch.float64)


@pytest.fixture(scope="module")
def problem():
    streams = Streams(0, "mrp", "easy-test", range(REPLICATES))
    features = orthonormal_features(SPEC, streams("features"))
    x = sample(SPEC, features, 80, streams("data"), dtype=torch.float64).x
    return x, features.double(), initial_kernels(24, 20, 0.05, streams("init")).double()


@pytest.fixture(scope="module")
def trained(problem):
    return run(problem, hit_factor=1.5)


def test_correlations_and_capture_strength_are_plain_inner_products():
    stream = torch.Generator().manual_seed(0)
    w = torch.randn(2, 5, 4, generator=stream)
    features = torch.randn(2, 3, 2, 4, generator=stream)
    found = correlations(w, features)
    assert found.shape == (2, 5, 3, 2)
    assert found[1, 4, 2, 0].item() == pytest.approx((w[1, 4] @ features[1, 2, 0]).item(), rel=1e-5)
    wanted = torch.einsum("rkd,rild->rkil", w, features).amax(1).clamp(min=0)
    torch.testing.assert_close(capture_strength(w, features), wanted)
    opposite = -features[:1, :1, :1, :].expand(1, 5, 1, 4).reshape(1, 5, 4)
    assert capture_strength(opposite, features[:1, :1, :1]).item() == 0  # negative counts as none


def test_a_replicate_stops_hit_factor_times_later_than_its_last_capture(problem, trained):
    last = trained.hit.flatten(1).amax(1)
    assert trained.stopped.tolist() == [math.ceil(1.5 * int(step)) for step in last]
    assert len(set(trained.stopped.tolist())) == REPLICATES  # so some do end before others
    found = run(problem, hit_factor=1)
    assert torch.equal(found.hit, trained.hit)
    assert torch.equal(found.stopped, last)


def test_a_hit_is_the_first_step_at_or_above_the_threshold(problem, trained):
    x, features, w = (tensor[1:2] for tensor in problem)
    first = torch.full(trained.hit[1:2].shape, -1)
    for step in range(1, int(trained.hit[1].max()) + 1):
        w = w + 0.5 * mae_descent(x, w, 0.5, ACTIVATION)
        reached = capture_strength(w, features) >= ACTIVATION.varrho
        first = torch.where((first < 0) & reached, step, first)
    assert torch.equal(first, trained.hit[1:2])


def test_a_feature_that_is_held_at_the_start_is_hit_at_step_zero(problem):
    x, features, w = (tensor[:1] for tensor in problem)
    w = w.clone()
    w[0, 3] = 0.5 * features[0, 2, 1]
    found = run((x, features, w), max_steps=2)
    assert found.hit[0, 2, 1] == 0
    assert found.hit[0].flatten().tolist().count(0) == 1


def test_the_trace_ends_with_the_kernels_that_are_returned(problem, trained):
    steps, strength = trained.trace.steps, trained.trace["strength"]
    assert steps == sorted(set(steps))
    assert steps[0] == 0
    assert steps[-1] == trained.stopped.max()
    assert all(step % 20 == 0 for step in steps[:-1])
    assert strength.shape == (len(steps), REPLICATES, 4, 2)
    torch.testing.assert_close(strength[0], capture_strength(problem[2], problem[1]))
    torch.testing.assert_close(strength[-1], capture_strength(trained.w, problem[1]))
    # and keeps the value of a replicate that has ended
    early = int(trained.stopped.argmin())
    after = [row for row, step in enumerate(steps) if step >= trained.stopped[early]]
    assert len(after) > 2
    assert (strength[after, early] == strength[-1, early]).all()


@pytest.mark.parametrize(
    ("q", "schedule", "rates"), [(4, None, (0.5, 0.8, 0.4)), (3, "main", (0.1, 0.2, 0.6))]
)
def test_a_sweep_in_one_batch_is_the_runs_of_its_points(problem, q, schedule, rates):
    """Also after other points have finished and left the batch."""
    thetas, activation = (0.4, 0.5, 0.8), Activation(q, 0.3)
    settings = {"schedule": schedule, "may_diverge": True, "max_steps": 400}
    batch = {"theta": numbers(*thetas), "learning_rate": numbers(*rates)}
    together = run(problem, activation, **batch, **settings)
    assert len(set(together.stopped.tolist())) > 1
    for r in range(3):
        point = {"theta": thetas[r], "learning_rate": rates[r]}
        alone = run(only(problem, r), activation, **point, **settings)
        assert together.stopped[r] == alone.stopped[0]
        assert torch.equal(together.hit[r], alone.hit[0])
        torch.testing.assert_close(together.w[r], alone.w[0], rtol=1e-7, atol=1e-9)


def test_the_printed_gradient_is_the_formula_of_fact_2_2(problem):
    x, _, w = problem
    w, theta, varrho = 8 * w, 0.4, 0.3
    u = torch.einsum("rnpd,rkd->rnpk", x, w)
    assert (u > varrho).any()
    s = torch.where(u <= varrho, u.clamp(min=0) ** 4 / (4 * varrho**3), u - 0.75 * varrho)
    slope = (u / varrho).clamp(0, 1) ** 3
    delta = x - torch.einsum("rnpk,rkd->rnpd", s, w) / theta
    a = s + slope * u.clamp(min=0)
    wanted = torch.einsum("rnpk,rnpd->rkd", a, delta) / x.shape[1]
    found = mae_descent_as_printed(x, w, theta, ACTIVATION)
    torch.testing.assert_close(found, wanted, rtol=1e-10, atol=1e-12)
    true = mae_descent(x, w, theta, ACTIVATION)
    assert (found - true).norm() > 0.05 * true.norm()


def test_divergence_is_told_or_if_allowed_marked_and_hurts_no_other_replicate(problem):
    rates = (0.5, 5.0, 0.5)
    settings = {"max_steps": 60, "hit_factor": 50.0}
    found = run(problem, learning_rate=numbers(*rates), may_diverge=True, **settings)
    assert found.diverged.tolist() == [False, True, False]
    assert found.stopped[0] == found.stopped[2] == 60
    assert found.stopped[1] < 60
    assert torch.isfinite(found.trace["strength"]).all()
    for r in (0, 2):
        alone = run(only(problem, r), **settings)
        torch.testing.assert_close(found.w[r], alone.w[0], rtol=1e-8, atol=1e-10)
    with pytest.raises(DivergedError, match=rf"^step {int(found.stopped[1])}: "):
        run(problem, learning_rate=numbers(*rates), **settings)
    # fewer steps than record_every: the check of the last kernels is the only one
    with pytest.raises(DivergedError):
        run(problem, learning_rate=5, max_steps=15, hit_factor=10)


def test_a_diverged_replicate_keeps_the_kernels_of_the_step_before(problem):
    one = only(problem, 1)
    found = run(one, learning_rate=5.0, may_diverge=True, hit_factor=50.0)
    x, _, w = one
    for _ in range(int(found.stopped[0]) - 1):
        w = w + 5.0 * mae_descent(x, w, 0.5, ACTIVATION)
    torch.testing.assert_close(found.w, w, rtol=1e-9, atol=1e-12)
    assert found.w.abs().max() < OVERFLOW
    following = w + 5.0 * mae_descent(x, w, 0.5, ACTIVATION)
    assert not following.abs().max() < OVERFLOW
