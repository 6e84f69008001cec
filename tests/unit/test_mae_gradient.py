"""The masked loss of the MAE framework, its expectation over masks and its gradient."""

from __future__ import annotations

import itertools

import pytest
import torch

from featlearn.mrp import blocks
from featlearn.mrp.gradients import mae_descent, mae_loss
from featlearn.mrp.model import Activation

#: replicates, samples, patches, dimension, kernels
SHAPES = [(1, 1, 1, 1, 1), (1, 5, 3, 4, 6), (3, 7, 4, 5, 2), (2, 4, 6, 5, 8)]


def relu(u: torch.Tensor, activation: Activation) -> torch.Tensor:
    """Smoothed ReLU as section 3.1 writes it, independent of the library."""
    q, varrho = activation.q, activation.varrho
    inside = u.clamp(min=0) ** q / (q * varrho ** (q - 1))
    return torch.where(u <= varrho, inside, u - (1 - 1 / q) * varrho)


def slope(u: torch.Tensor, activation: Activation) -> torch.Tensor:
    q, varrho = activation.q, activation.varrho
    return torch.where(u <= varrho, (u.clamp(min=0) / varrho) ** (q - 1), 1.0)


def random_problem(shape, seed=0, dtype=torch.float64):
    """Patches and kernels whose products fall on all three branches of the activation."""
    replicates, samples, patches, dimension, kernels = shape
    stream = torch.Generator().manual_seed(seed)
    x = torch.randn(replicates, samples, patches, dimension, generator=stream, dtype=torch.float64)
    w = torch.randn(replicates, kernels, dimension, generator=stream, dtype=torch.float64)
    if dimension == 1:  # one kernel, one patch: of one sign, or nothing would be active
        x, w = x.abs(), w.abs()
    return x.to(dtype), (0.3 * w).to(dtype)


def enumerated_loss(x, w, theta, activation):
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


def printed_gradient(x, w, theta, activation):
    """Negative gradient as Fact 2.2 of the paper prints it: ``sum_p A_rp Delta_p``."""
    u = torch.einsum("rnpd,rkd->rnpk", x, w)
    s = relu(u, activation)
    delta = x - torch.einsum("rnpk,rkd->rnpd", s, w) / theta
    a = s + slope(u, activation) * u.clamp(min=0)
    return torch.einsum("rnpk,rnpd->rkd", a, delta) / x.shape[1]


@pytest.mark.parametrize("shape", [(1, 1, 1, 1, 1), (2, 3, 4, 5, 6), (1, 2, 6, 3, 4)])
@pytest.mark.parametrize("q", [2, 3, 4])
@pytest.mark.parametrize("theta", [0.1, 0.4, 0.75, 1.0])
def test_the_loss_is_the_mean_over_all_masks(shape, q, theta):
    x, w = random_problem(shape)
    activation = Activation(q, 0.3)
    wanted = enumerated_loss(x, w, theta, activation)
    torch.testing.assert_close(mae_loss(x, w, theta, activation), wanted, rtol=1e-12, atol=0)


def test_without_a_mask_the_loss_is_the_reconstruction_error():
    x, w = random_problem((1, 3, 4, 5, 6))
    activation = Activation(3, 0.3)
    g = torch.einsum("rnpk,rkd->rnpd", relu(torch.einsum("rnpd,rkd->rnpk", x, w), activation), w)
    wanted = ((x - g) ** 2).sum((2, 3)).mean(1) / 2
    torch.testing.assert_close(mae_loss(x, w, 1.0, activation), wanted, rtol=1e-12, atol=0)


def test_the_random_problems_reach_every_branch_of_the_activation():
    x, w = random_problem(SHAPES[-1])
    u = torch.einsum("rnpd,rkd->rnpk", x, w)
    shares = torch.stack([u <= 0, (u > 0) & (u < 0.3), u > 0.3]).double().mean((1, 2, 3, 4))
    assert shares.min() > 0.1


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("q", [2, 3, 4, 5, 6])
@pytest.mark.parametrize("theta", [0.3, 1.0])
def test_the_descent_is_minus_the_gradient_of_the_loss(shape, q, theta):
    x, w = random_problem(shape, seed=q)
    activation = Activation(q, 0.3)
    w.requires_grad_()
    (gradient,) = torch.autograd.grad(mae_loss(x, w, theta, activation).sum(), w)
    found = mae_descent(x, w.detach(), theta, activation)
    assert gradient.abs().max() > 0
    torch.testing.assert_close(found, -gradient, rtol=1e-11, atol=1e-12)


def test_the_descent_is_minus_the_gradient_of_the_enumerated_loss():
    x, w = random_problem((2, 3, 5, 4, 6), seed=9)
    activation = Activation(4, 0.3)
    w.requires_grad_()
    (gradient,) = torch.autograd.grad(enumerated_loss(x, w, 0.4, activation).sum(), w)
    found = mae_descent(x, w.detach(), 0.4, activation)
    torch.testing.assert_close(found, -gradient, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("q", [2, 4, 6])
@pytest.mark.parametrize("cache", [1, 7_000, 1 << 30])
def test_the_block_size_does_not_change_the_descent(monkeypatch, q, cache):
    x, w = random_problem((2, 9, 7, 5, 4))
    activation = Activation(q, 0.3)
    w.requires_grad_()
    (gradient,) = torch.autograd.grad(mae_loss(x, w, 0.4, activation).sum(), w)
    monkeypatch.setattr(blocks, "CACHE_BYTES", cache)
    # two replicates of nine samples: cut by samples within a replicate, or all at once
    found = list(blocks.responses(x, w.detach(), activation))
    assert sum(block.x.shape[0] * block.x.shape[1] for block in found) == 2 * 9 * 7
    assert len(found) == {1: 18, 7_000: 4, 1 << 30: 1}[cache]
    torch.testing.assert_close(
        mae_descent(x, w.detach(), 0.4, activation), -gradient, rtol=1e-11, atol=1e-12
    )


def test_single_precision_agrees_with_double_precision():
    x, w = random_problem((2, 40, 6, 8, 10))
    activation = Activation(4, 0.3)
    exact = mae_descent(x, w, 0.5, activation)
    rough = mae_descent(x.float(), w.float(), 0.5, activation)
    assert rough.dtype == torch.float32
    torch.testing.assert_close(rough.double(), exact, rtol=1e-4, atol=1e-5)


def test_the_descent_leaves_its_arguments_as_they_are():
    x, w = random_problem((2, 4, 6, 5, 8))
    kept = x.clone(), w.clone()
    mae_descent(x, w, 0.4, Activation(4, 0.3))
    assert torch.equal(x, kept[0])
    assert torch.equal(w, kept[1])


@pytest.mark.parametrize("seed", range(4))
def test_the_printed_gradient_is_not_the_gradient(seed):
    x, w = random_problem((1, 6, 5, 5, 6), seed=seed)
    activation = Activation(4, 0.3)
    true = mae_descent(x, w, 0.5, activation)
    difference = (printed_gradient(x, w, 0.5, activation) - true).norm() / true.norm()
    assert difference > 0.1


@pytest.mark.parametrize("q", [2, 3, 4])
def test_the_printed_gradient_is_right_for_one_kernel_along_all_patches(q):
    stream = torch.Generator().manual_seed(5)
    w = torch.randn(1, 1, 5, generator=stream, dtype=torch.float64)
    multiple = torch.randn(1, 6, 4, 1, generator=stream, dtype=torch.float64)
    x = multiple * w[:, :, None]  # some along the kernel, some against it
    activation = Activation(q, 0.3)
    true = mae_descent(x, w, 0.5, activation)
    assert true.norm() > 1e-3
    printed = printed_gradient(x, w, 0.5, activation)
    torch.testing.assert_close(printed, true, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize(
    ("theta", "strength", "varrho", "example"),
    [(0.5, 1.2, 0.3, 0.80704), (0.7, 1.0, 0.2, 0.91501)],
)
def test_one_kernel_on_one_feature_converges_to_its_fixed_point(theta, strength, varrho, example):
    v = torch.tensor([0.6, 0.0, 0.8], dtype=torch.float64)
    x = (strength * v).view(1, 1, 1, 3)
    w = (0.2 * v).view(1, 1, 3)
    activation = Activation(4, varrho)
    for _ in range(2000):
        w = w + 0.1 * mae_descent(x, w, theta, activation)
    offset = (1 - 1 / 4) * varrho / strength
    wanted = (offset + (offset**2 + 4 * theta) ** 0.5) / 2
    assert wanted == pytest.approx(example, abs=5e-6)
    torch.testing.assert_close(w[0, 0], wanted * v, rtol=1e-10, atol=1e-12)


def test_kernels_that_share_a_feature_converge_to_a_lower_fixed_point():
    """n equal kernels: ``n w (w z - (1 - 1/q) varrho) = theta z``."""
    theta, z, varrho, kernels = 0.5, 1.2, 0.3, 3
    v = torch.tensor([0.6, 0.0, 0.8], dtype=torch.float64)
    x = (z * v).view(1, 1, 1, 3)
    w = (0.2 * v).expand(1, kernels, 3).clone()
    activation = Activation(4, varrho)
    for _ in range(3000):
        w = w + 0.1 * mae_descent(x, w, theta, activation)
    size = float(w[0, 0] @ v)
    assert kernels * size * (size * z - 0.75 * varrho) == pytest.approx(theta * z, rel=1e-9)
    torch.testing.assert_close(w, (size * v).expand_as(w), rtol=1e-9, atol=1e-12)


def test_the_first_step_of_a_small_kernel_grows_as_predicted():
    """Section 4.8: eta a^q Gamma / (q varrho^(q-1)), Gamma = share (1 + q) sum_p z_p^(q+1)."""
    q, varrho, theta, a, d = 4, 0.3, 0.5, 1e-3, 4
    strengths = [1.3, 0.7]
    x = torch.zeros(1, 2, 3, d, dtype=torch.float64)
    x[0, 0, 0, 0], x[0, 0, 2, 0] = strengths  # one sample of two holds the feature, on two patches
    x[0, 1, 1, 1] = 1.0
    w = torch.zeros(1, 1, d, dtype=torch.float64)
    w[0, 0, 0] = a
    gamma = 0.5 * (1 + q) * sum(z ** (q + 1) for z in strengths)
    step = mae_descent(x, w, theta, Activation(q, varrho))[0, 0]
    assert step[0].item() == pytest.approx(a**q * gamma / (q * varrho ** (q - 1)), rel=1e-9)
    assert step[1:].abs().max().item() == 0
