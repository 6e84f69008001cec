"""Masked losses, their expectation over masks and their gradients; the teacher factor."""

import itertools

import pytest
import torch

from featlearn.mrp import blocks, gradients
from featlearn.mrp.model import Activation
from featlearn.mrp.train import pretrain

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


def enumerated_loss(x, w, target, theta, activation):
    """Mean over all 2**P masks of ``1/2 sum_r (target_r - 1/theta h_r(eps X))^2``: (R,)."""
    patches = x.shape[2]
    total = torch.zeros(x.shape[0], dtype=x.dtype)
    for kept in itertools.product((0, 1), repeat=patches):
        mask = torch.tensor(kept, dtype=x.dtype)[:, None]
        chance = theta ** sum(kept) * (1 - theta) ** (patches - sum(kept))
        error = target - outputs(mask * x, w, activation) / theta
        total = total + chance * (error**2).sum(2).mean(1) / 2
    return total


def enumerated_mae_loss(x, w, theta, activation):
    """Expectation of the masked loss over all 2**P masks, one after another: (R,).

    ``L(X, eps) = 1/2 sum_p |x_p - 1/theta sum_r w_r R(<w_r, eps_p x_p>)|^2``.
    """
    patches = x.shape[2]
    total = torch.zeros(x.shape[0], dtype=x.dtype)
    for kept in itertools.product((0, 1), repeat=patches):
        mask = torch.tensor(kept, dtype=x.dtype)
        chance = theta ** sum(kept) * (1 - theta) ** (patches - sum(kept))
        u = torch.einsum("rnpd,rkd->rnpk", mask[:, None] * x, w)
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
