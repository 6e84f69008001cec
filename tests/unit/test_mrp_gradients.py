"""Masked losses, their expectation over masks and their gradients; the network itself."""

import itertools
import math

import pytest
import torch

from featlearn.core.seeds import Streams
from featlearn.mrp import blocks, gradients, model
from featlearn.mrp.experiments import oracles
from featlearn.mrp.model import Activation
from featlearn.mrp.train import pretrain
from unit import job_of

#: replicates, samples, patches, dimension, kernels
SHAPES = [(1, 1, 1, 1, 1), (1, 5, 3, 4, 6), (3, 7, 4, 5, 2)]
VARRHO = 0.3


def random_problem(shape, seed=0):
    replicates, samples, patches, dimension, kernels = shape
    stream = torch.Generator().manual_seed(seed)
    x = torch.randn(replicates, samples, patches, dimension, generator=stream, dtype=torch.float64)
    w = torch.randn(replicates, kernels, dimension, generator=stream, dtype=torch.float64)
    if dimension == 1:  # one kernel, one patch: of one sign, or nothing would be active
        x, w = x.abs(), w.abs()
    return x, 0.3 * w


def relu(u: torch.Tensor, activation: Activation) -> torch.Tensor:
    q, varrho = activation.q, activation.varrho
    inside = u.clamp(min=0) ** q / (q * varrho ** (q - 1))
    return torch.where(u <= varrho, inside, u - (1 - 1 / q) * varrho)


def outputs(x, w, activation):
    return relu(torch.einsum("rnpd,rkd->rnpk", x, w), activation).sum(2)


def masks(x, theta):
    """The chance of each of the 2**P masks, and the mask: (P, 1)."""
    for kept in itertools.product((0, 1), repeat=x.shape[2]):
        chance = theta ** sum(kept) * (1 - theta) ** (len(kept) - sum(kept))
        yield chance, torch.tensor(kept, dtype=x.dtype)[:, None]


def enumerated_loss(x, w, target, theta, activation):
    """Mean over all 2**P masks of ``1/2 sum_r (target_r - 1/theta h_r(eps X))^2``: (R,)."""
    return sum(
        chance * (target - outputs(mask * x, w, activation) / theta).square().sum(2).mean(1) / 2
        for chance, mask in masks(x, theta)
    )


def enumerated_mae_loss(x, w, theta, activation):
    """Expectation of the masked loss over all 2**P masks, one after another: (R,).

    ``L(X, eps) = 1/2 sum_p |x_p - 1/theta sum_r w_r R(<w_r, eps_p x_p>)|^2``.
    """
    total = torch.zeros(x.shape[0], dtype=x.dtype)
    for chance, mask in masks(x, theta):
        u = torch.einsum("rnpd,rkd->rnpk", mask * x, w)
        rebuilt = torch.einsum("rnpk,rkd->rnpd", relu(u, activation), w) / theta
        total = total + chance * ((x - rebuilt) ** 2).sum((2, 3)).mean(1) / 2
    return total


@pytest.mark.parametrize("shape", [(1, 1, 1, 1, 1), (2, 3, 4, 5, 6), (1, 2, 6, 3, 4)])
@pytest.mark.parametrize("q", [2, 3, 4])
@pytest.mark.parametrize("theta", [0.1, 0.4, 1.0])
def test_the_mae_loss_is_the_mean_over_all_masks(shape, q, theta):
    x, w = random_problem(shape)
    activation = Activation(q, 0.3)
    wanted = enumerated_mae_loss(x, w, theta, activation)
    torch.testing.assert_close(
        gradients.mae_loss(x, w, theta, activation), wanted, rtol=1e-12, atol=0
    )


@pytest.mark.parametrize("q", [2, 4, 6])
@pytest.mark.parametrize("cache", [1, 7_000, 1 << 30])
def test_the_block_size_does_not_change_the_mae_descent(monkeypatch, q, cache):
    x, w = random_problem((2, 9, 7, 5, 4))
    activation = Activation(q, 0.3)
    w.requires_grad_()
    (gradient,) = torch.autograd.grad(gradients.mae_loss(x, w, 0.4, activation).sum(), w)
    monkeypatch.setattr(blocks, "CACHE_BYTES", cache)
    # two replicates of nine samples: cut by samples within a replicate, or all at once
    found = list(blocks.responses(x, w.detach(), activation))
    assert sum(block.x.shape[0] * block.x.shape[1] for block in found) == 2 * 9 * 7
    assert len(found) == {1: 18, 7_000: 4, 1 << 30: 1}[cache]
    torch.testing.assert_close(
        gradients.mae_descent(x, w.detach(), 0.4, activation), -gradient, rtol=1e-11, atol=1e-12
    )


def test_kernels_that_share_a_feature_converge_to_a_lower_fixed_point():
    """n equal kernels: ``n w (w z - (1 - 1/q) varrho) = theta z``."""
    theta, z, varrho, kernels = 0.5, 1.2, 0.3, 3
    v = torch.tensor([0.6, 0.0, 0.8], dtype=torch.float64)
    x = (z * v).view(1, 1, 1, 3)
    w = (0.2 * v).expand(1, kernels, 3).clone()
    activation = Activation(4, varrho)
    for _ in range(3000):
        w = w + 0.1 * gradients.mae_descent(x, w, theta, activation)
    size = float(w[0, 0] @ v)
    assert kernels * size * (size * z - 0.75 * varrho) == pytest.approx(theta * z, rel=1e-9)
    torch.testing.assert_close(w, (size * v).expand_as(w), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("q", [2, 3, 4])
@pytest.mark.parametrize("theta", [0.1, 0.4, 1.0])
def test_the_loss_is_the_mean_over_all_masks(q, theta):
    x, w = random_problem((2, 3, 5, 4, 6), seed=q)
    activation = Activation(q, VARRHO)
    target = outputs(x, 1.7 * w, activation)
    wanted = enumerated_loss(x, w, target, theta, activation)
    found = gradients.teacher_student_loss(x, w, target, theta, activation)
    torch.testing.assert_close(found, wanted, rtol=1e-12, atol=0)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("q", [2, 3, 6])
@pytest.mark.parametrize("cache", [1, 3000, 1 << 30])
def test_the_descent_is_minus_the_gradient_with_the_teacher_held(monkeypatch, shape, q, cache):
    monkeypatch.setattr(blocks, "CACHE_BYTES", cache)
    x, w = random_problem(shape, seed=q)
    activation, theta, tau = Activation(q, VARRHO), 0.4, 1.6
    target = outputs(x, tau * w, activation)
    w.requires_grad_()
    loss = enumerated_loss(x, w, target, theta, activation)
    (gradient,) = torch.autograd.grad(loss.sum(), w)
    assert gradient.abs().max() > 0
    found = gradients.teacher_student_descent(x, w.detach(), theta, activation, tau=tau)
    torch.testing.assert_close(found, -gradient, rtol=1e-10, atol=1e-12)


def test_a_theta_and_a_factor_for_each_replicate_are_used_by_it_alone():
    x, w = random_problem((3, 5, 3, 4, 6))
    activation = Activation(3, VARRHO)
    thetas, taus = torch.tensor([0.2, 0.5, 0.9]), torch.tensor([3.0, 2.0, 1.25])
    found = gradients.teacher_student_descent(x, w, thetas.double(), activation, tau=taus.double())
    target = outputs(x, 2 * w, activation)
    losses = gradients.teacher_student_loss(x, w, target, thetas.double(), activation)
    for r in range(3):
        one = slice(r, r + 1)
        theta, tau = float(thetas[r].double()), float(taus[r])
        alone = gradients.teacher_student_descent(x[one], w[one], theta, activation, tau=tau)
        torch.testing.assert_close(found[one], alone, rtol=1e-12, atol=1e-14)
        loss = gradients.teacher_student_loss(x[one], w[one], target[one], theta, activation)
        torch.testing.assert_close(losses[one], loss, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(("schedule", "step", "wanted"), [
    ("one", 9, 1.0),
    ("constant", 7, 1.75),  # theta = .4, C_p = 2: 1 + .6 / .8
    ("main", 0, 2.75),
    ("main", 7, 1.875),
    ("appendix", 0, 2.75),
    ("appendix", 8, 1.75 + 1 / 3),
])  # fmt: skip
def test_the_teacher_factor_follows_its_schedule(schedule, step, wanted):
    assert gradients.teacher_factor(schedule, step, 0.4, 2, q=3) == pytest.approx(wanted, rel=1e-14)


def test_the_factor_of_a_run_starts_at_step_zero():
    x, w = random_problem((1, 5, 3, 4, 6))
    activation = Activation(3, VARRHO)
    features = torch.eye(4, dtype=torch.float64)[:2].view(1, 2, 1, 4)
    options = {"theta": 0.5, "schedule": "main", "captured_at": 100.0, "learning_rate": 0.01}
    found = pretrain(x, features, w, activation, **options, max_steps=2)
    for tau in (3.0, 2.5):
        w = w + 0.01 * gradients.teacher_student_descent(x, w, 0.5, activation, tau=tau)
    torch.testing.assert_close(found.w, w, rtol=1e-12, atol=1e-14)


def test_the_printed_gradient_is_the_gradient_only_of_parallel_patches():
    streams = Streams(0, "mrp", "oracle-test", range(3))("instance")
    given = oracles.random_instance(streams, 0.3)
    printed = oracles.printed_against_true(given, Activation(3, 0.3))
    assert printed["relative_error"].min() > 0.1
    parallel = oracles.printed_against_true(oracles.parallel_instance(given), Activation(3, 0.3))
    assert parallel["relative_error"].max() < 1e-12


def test_kernels_in_several_lottery_sets_are_counted_replicate_by_replicate():
    job = job_of({"classes": 5, "kernels_per_class": 6, "replicates": 2})
    shared = oracles.lottery(job)["lottery"]["shared_kernels"]
    drawn = torch.stack([
        torch.randn((30, 5, 2), generator=stream)
        for stream in Streams(0, "mrp", "initialisation", range(2))("kernels-5-6")
    ])  # fmt: skip
    near = (drawn > 0) & (drawn >= drawn.amax(1, keepdim=True) * (1 - 0.25 / math.log(5)))
    assert shared.tolist() == (near.sum((2, 3)) > 1).sum(1).tolist()


EXPONENTS = [2, 3, 4, 5, 6]


@pytest.mark.parametrize("q", EXPONENTS)
def test_smoothed_relu_is_its_definition_on_all_three_branches(q):
    """Section 3.1."""
    points = torch.tensor([-5.0, -0.1, 0.0, 1e-3, 0.1, 0.299, VARRHO, 0.301, 1.0, 40.0]).double()
    wanted = relu(points, Activation(q, VARRHO))
    torch.testing.assert_close(
        model.smoothed_relu(points, q, VARRHO), wanted, rtol=1e-13, atol=1e-16
    )


@pytest.mark.parametrize("q", EXPONENTS)
@pytest.mark.parametrize("varrho", [0.05, 0.3, 1.0])
def test_the_slope_is_the_derivative_of_the_value(q, varrho):
    # an even number of points: none of them lies on a joint
    u = torch.linspace(-1.5 * varrho, 3.1 * varrho, 200, dtype=torch.float64, requires_grad=True)
    (wanted,) = torch.autograd.grad(model.smoothed_relu(u, q, varrho).sum(), u)
    slope = model.smoothed_relu_slope(u.detach(), q, varrho)
    torch.testing.assert_close(slope, wanted, rtol=1e-12, atol=1e-14)


def test_the_fixed_head_gives_each_class_its_own_block_of_kernels():
    head = model.fixed_block_head(classes=3, kernels=6, replicates=2)
    block = torch.tensor([[1, 1, 0, 0, 0, 0], [0, 0, 1, 1, 0, 0], [0, 0, 0, 0, 1, 1.0]])
    assert torch.equal(head, torch.stack([block, block]))
    head[0, 0, 0] = 7  # replicates do not share memory
    assert head[1, 0, 0] == 1
    with pytest.raises(ValueError, match=r"kernels: 7.*multiple of classes"):
        model.fixed_block_head(classes=3, kernels=7, replicates=1)


def test_initial_kernels_have_the_standard_deviation_that_was_asked_for():
    streams = [torch.Generator().manual_seed(seed) for seed in (3, 4)]
    w = model.initial_kernels(400, 50, 0.02, streams)
    assert w.shape == (2, 400, 50)
    assert w.dtype == torch.float32
    for kernels in w.double():
        count = kernels.numel()
        assert abs(kernels.mean()) < 5 * 0.02 / count**0.5
        # the variance of n normals has a relative error of sqrt(2 / n)
        assert abs(kernels.pow(2).mean() / 0.02**2 - 1) < 5 * (2 / count) ** 0.5
