"""Gradients and activation for arbitrary small problems."""

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from featlearn.mrp import blocks
from featlearn.mrp.gradients import classification_descent, mae_descent, mae_loss
from featlearn.mrp.model import Activation, encode, smoothed_relu, smoothed_relu_slope

ACTIVATIONS = st.builds(Activation, st.integers(2, 6), st.floats(0.05, 2))
SIZES = st.tuples(*(st.integers(1, limit) for limit in (3, 6, 5, 4, 6)))
SEEDS = st.integers(0, 1000)
CACHES = st.sampled_from([1, 3000, 1 << 20])


def normal(stream, *shape):
    return torch.randn(shape, generator=stream, dtype=torch.float64)


def problem(sizes, seed):
    replicates, samples, patches, dimension, kernels = sizes
    stream = torch.Generator().manual_seed(seed)
    x = normal(stream, replicates, samples, patches, dimension)
    return x, 0.5 * normal(stream, replicates, kernels, dimension), stream


@given(ACTIVATIONS, st.lists(st.floats(-3, 3), min_size=2, max_size=20))
def test_the_activation_is_monotone_convex_and_between_zero_and_the_relu(activation, points):
    u = torch.tensor(sorted(points), dtype=torch.float64)
    value = smoothed_relu(u, activation.q, activation.varrho)
    slope = smoothed_relu_slope(u, activation.q, activation.varrho)
    assert (value >= 0).all()
    assert (value <= u.clamp(min=0) + 1e-12).all()
    assert (value[1:] >= value[:-1] - 1e-12).all()
    assert (slope[1:] >= slope[:-1]).all()
    assert ((slope >= 0) & (slope <= 1)).all()
    assert (value[u <= 0] == 0).all()
    # no point lies below the tangent at another
    tangent = value[:, None] + slope[:, None] * (u[None] - u[:, None])
    assert (value[None] >= tangent - 1e-12).all()


@given(SIZES, SEEDS, ACTIVATIONS, st.floats(0.05, 1), CACHES)
def test_the_mae_descent_is_always_minus_the_gradient(sizes, seed, activation, theta, cache):
    x, w, _ = problem(sizes, seed)
    w.requires_grad_()
    (gradient,) = torch.autograd.grad(mae_loss(x, w, theta, activation).sum(), w)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "CACHE_BYTES", cache)
        found = mae_descent(x, w.detach(), theta, activation)
    scale = max(1.0, gradient.abs().max().item())
    torch.testing.assert_close(found / scale, -gradient / scale, rtol=1e-10, atol=1e-12)


@given(SIZES, SEEDS, ACTIVATIONS, st.integers(2, 5), CACHES)
def test_the_classification_descent_is_always_minus_the_gradient(
    sizes, seed, activation, classes, cache
):
    x, w, stream = problem(sizes, seed)
    u = normal(stream, sizes[0], classes, sizes[4])
    y = torch.randint(classes, sizes[:2], generator=stream)
    w.requires_grad_()
    u.requires_grad_()
    scores = encode(x, w, activation.q, activation.varrho) @ u.transpose(1, 2)
    loss = F.cross_entropy(scores.flatten(0, 1), y.flatten()) * sizes[0]
    by_w, by_u = torch.autograd.grad(loss, (w, u))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "CACHE_BYTES", cache)
        found = classification_descent(x, y, w.detach(), u.detach(), activation)
    torch.testing.assert_close(found.w, -by_w, rtol=1e-9, atol=1e-11)
    torch.testing.assert_close(found.u, -by_u, rtol=1e-9, atol=1e-11)
    assert found.loss.sum().item() == pytest.approx(loss.item(), rel=1e-10)
