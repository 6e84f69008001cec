"""Sweeps in one batch, the printed gradient, divergence that is allowed, order of the updates."""

from __future__ import annotations

import pytest
import torch

from featlearn.core.errors import DivergedError
from featlearn.core.seeds import Streams
from featlearn.mrp.data import MultiView, orthonormal_features, sample
from featlearn.mrp.gradients import (
    TeacherFactor,
    classification_descent,
    mae_descent,
    mae_descent_as_printed,
    mae_loss,
)
from featlearn.mrp.model import Activation, initial_kernels
from featlearn.mrp.train import (
    OVERFLOW,
    MaskedAutoencoder,
    TeacherStudent,
    pretrain,
    train_classifier,
)

ACTIVATION = Activation(4, 0.3)
SPEC = MultiView(classes=4, dimension=20, patches=8, sparsity=1, q=4)


@pytest.fixture(scope="module")
def problem():
    """An easy setting that captures every feature, three replicates."""
    streams = Streams(0, "mrp", "variants-test", range(3))
    features = orthonormal_features(SPEC, streams("features"))
    x = sample(SPEC, features, 40, streams("data"), dtype=torch.float64).x
    return x, features, initial_kernels(24, 20, 0.05, streams("init")).double()


def run(problem, method, **changes):
    x, features, w = problem
    settings = {"varrho": 0.3, "learning_rate": 0.5, "max_steps": 300}
    return pretrain(x, features, w, method, **{**settings, **changes})


def only(problem, r):
    return tuple(tensor[r : r + 1] for tensor in problem)


def numbers(*values):
    return torch.tensor(values, dtype=torch.float64)


# ------------------------------------------------------------------------------- sweeps


def test_a_theta_for_each_replicate_is_used_by_it_alone(problem):
    x, _, w = problem
    thetas = numbers(0.2, 0.5, 1.0)
    down = mae_descent(x, w, thetas, ACTIVATION)
    printed = mae_descent_as_printed(x, w, thetas, ACTIVATION)
    losses = mae_loss(x, w, thetas, ACTIVATION)
    for r in range(3):
        one, theta = slice(r, r + 1), float(thetas[r])
        for function, found in [
            (mae_descent, down),
            (mae_descent_as_printed, printed),
            (mae_loss, losses),
        ]:
            alone = function(x[one], w[one], theta, ACTIVATION)
            torch.testing.assert_close(found[one], alone, rtol=1e-11, atol=1e-15)


def mae_method(thetas):
    return MaskedAutoencoder(ACTIVATION, thetas)


def teacher_method(thetas):
    return TeacherStudent(Activation(3, 0.3), TeacherFactor(thetas, 1, "main", 3))


@pytest.mark.parametrize(
    ("method", "rates"),
    [(mae_method, (0.5, 0.8, 0.4)), (teacher_method, (0.1, 0.2, 0.6))],
    ids=["mae", "teacher-student"],
)
def test_a_sweep_in_one_batch_is_the_runs_of_its_points(problem, method, rates):
    """Also after other points have finished and left the batch."""
    thetas = (0.4, 0.5, 0.8)
    together = run(
        problem,
        method(numbers(*thetas)),
        learning_rate=numbers(*rates),
        may_diverge=True,
        max_steps=400,
    )
    assert len(set(together.stopped.tolist())) > 1
    for r in range(3):
        alone = run(
            only(problem, r),
            method(thetas[r]),
            learning_rate=rates[r],
            may_diverge=True,
            max_steps=400,
        )
        assert together.stopped[r] == alone.stopped[0]
        assert torch.equal(together.hit[r], alone.hit[0])
        torch.testing.assert_close(together.w[r], alone.w[0], rtol=1e-7, atol=1e-9)


# ------------------------------------------------------------------------------- printed gradient


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


def test_a_run_can_follow_the_printed_gradient(problem):
    x, _, w = problem
    method = MaskedAutoencoder(ACTIVATION, 0.5, gradient="as_printed")
    found = run(problem, method, max_steps=3)
    for _ in range(3):
        w = w + 0.5 * mae_descent_as_printed(x, w, 0.5, ACTIVATION)
    torch.testing.assert_close(found.w, w, rtol=1e-12, atol=1e-15)


# ------------------------------------------------------------------------------- divergence


def test_divergence_that_is_allowed_is_marked_and_hurts_no_other_replicate(problem):
    rates = (0.5, 5.0, 0.5)
    settings = {"max_steps": 60, "hit_factor": 50.0}
    method = MaskedAutoencoder(ACTIVATION, 0.5)
    found = run(problem, method, learning_rate=numbers(*rates), may_diverge=True, **settings)
    assert found.diverged.tolist() == [False, True, False]
    assert found.stopped[0] == found.stopped[2] == 60
    assert found.stopped[1] < 60
    assert torch.isfinite(found.trace.stacked("strength")).all()
    for r in (0, 2):
        alone = run(only(problem, r), method, **settings)
        torch.testing.assert_close(found.w[r], alone.w[0], rtol=1e-8, atol=1e-10)


def test_a_replicate_that_diverges_after_another_has_finished_is_the_one_that_is_marked(problem):
    x, features, w = problem
    w = w.clone()
    w[0, :8] = 0.8 * features[0].flatten(0, 1)  # holds everything at the start: ends at step 1
    method = MaskedAutoencoder(ACTIVATION, 0.5)
    found = run(
        (x, features, w),
        method,
        learning_rate=numbers(0.5, 0.5, 5.0),
        may_diverge=True,
        hit_factor=50.0,
        max_steps=60,
    )
    assert found.diverged.tolist() == [False, False, True]
    assert found.stopped[0] == 1
    assert 1 < found.stopped[2] < found.stopped[1] == 60


def test_a_diverged_replicate_keeps_the_kernels_of_the_step_before(problem):
    one = only(problem, 1)
    method = MaskedAutoencoder(ACTIVATION, 0.5)
    found = run(one, method, learning_rate=5.0, may_diverge=True, hit_factor=50.0)
    x, _, w = one
    for _ in range(int(found.stopped[0]) - 1):
        w = w + 5.0 * mae_descent(x, w, 0.5, ACTIVATION)
    torch.testing.assert_close(found.w, w, rtol=1e-9, atol=1e-12)
    assert found.w.abs().max() < OVERFLOW
    following = w + 5.0 * mae_descent(x, w, 0.5, ACTIVATION)
    assert not following.abs().max() < OVERFLOW


def test_divergence_that_is_not_allowed_stops_the_run_at_its_step(problem):
    method = MaskedAutoencoder(ACTIVATION, 0.5)
    seen = run(
        problem, method, learning_rate=numbers(0.5, 5.0, 0.5), may_diverge=True, hit_factor=50.0
    )
    with pytest.raises(DivergedError, match=rf"^step {int(seen.stopped[1])}: "):
        run(problem, method, learning_rate=numbers(0.5, 5.0, 0.5), hit_factor=50.0)


def test_a_run_that_does_not_diverge_says_so(problem):
    found = run(problem, MaskedAutoencoder(ACTIVATION, 0.5), max_steps=5, may_diverge=True)
    assert found.diverged.tolist() == [False] * 3


# ------------------------------------------------------------------------------- order of updates


def classification_problem():
    stream = torch.Generator().manual_seed(0)
    x = torch.randn(2, 7, 4, 5, generator=stream, dtype=torch.float64)
    y = torch.randint(3, (2, 7), generator=stream)
    w = 0.3 * torch.randn(2, 6, 5, generator=stream, dtype=torch.float64)
    axes = torch.eye(5, dtype=torch.float64)[:3].view(1, 3, 1, 5).expand(2, -1, -1, -1)
    return x, y, w, torch.zeros(2, 3, 6, dtype=torch.float64), axes.clone()


def test_head_first_lets_the_encoder_see_the_new_head():
    x, y, w, u, features = classification_problem()
    found = train_classifier(
        x,
        y,
        w,
        u,
        ACTIVATION,
        encoder_rate=0.1,
        head_rate=0.5,
        steps=2,
        features=features,
        order="u_then_w",
        record_every=1,
    )
    losses, start = [], w
    for _ in range(2):
        down = classification_descent(x, y, w, u, ACTIVATION)
        losses.append(down.loss)
        u = u + 0.5 * down.u
        w = w + 0.1 * classification_descent(x, y, w, u, ACTIVATION).w
    torch.testing.assert_close(found.w, w, rtol=1e-12, atol=1e-14)
    torch.testing.assert_close(found.u, u, rtol=1e-12, atol=1e-14)
    # a row of the trace describes the state before the step
    torch.testing.assert_close(found.trace.stacked("loss")[:2], torch.stack(losses))
    assert (w - start).abs().max() > 1e-3
