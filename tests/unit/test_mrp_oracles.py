"""The printed gradient, shared kernels, and the network itself, against their definitions."""

import math
from types import SimpleNamespace

import pytest
import torch

from featlearn.core.seeds import Streams
from featlearn.mrp import model, oracles
from featlearn.mrp.experiments.oracles import lottery


def test_the_printed_gradient_is_the_gradient_only_of_parallel_patches():
    streams = Streams(0, "mrp", "oracle-test", range(3))("instance")
    given = oracles.random_instance(
        streams, samples=2, patches=4, dimension=3, kernels=3, kernel_std=0.3
    )
    printed = oracles.printed_against_true(given.x, given.w, given.theta, model.Activation(3, 0.3))
    assert printed["relative_error"].min() > 0.1
    x, w = oracles.parallel_instance(given)
    parallel = oracles.printed_against_true(x, w, given.theta, model.Activation(3, 0.3))
    assert parallel["relative_error"].max() < 1e-12


def test_kernels_in_several_lottery_sets_are_counted_replicate_by_replicate():
    job = SimpleNamespace(config={"classes": 5, "kernels_per_class": 6, "replicates": 2}, seed=0)
    shared = lottery(job)["lottery"]["shared_kernels"]
    drawn = torch.stack([
        torch.randn((30, 5, 2), generator=stream)
        for stream in Streams(0, "mrp", "initialisation", range(2))("kernels-5-6")
    ])  # fmt: skip
    near = (drawn > 0) & (drawn >= drawn.amax(1, keepdim=True) * (1 - 0.25 / math.log(5)))
    assert shared.tolist() == (near.sum((2, 3)) > 1).sum(1).tolist()


EXPONENTS = [2, 3, 4, 5, 6]
VARRHO = 0.3


def piecewise(u: float, q: int, varrho: float) -> float:
    """The definition, section 3.1, branch by branch."""
    if u <= 0:
        return 0.0
    if u <= varrho:
        return u**q / (q * varrho ** (q - 1))
    return u - (1 - 1 / q) * varrho


@pytest.mark.parametrize("q", EXPONENTS)
def test_smoothed_relu_is_its_definition_on_all_three_branches(q):
    points = [-5.0, -0.1, 0.0, 1e-3, 0.1, 0.299, VARRHO, 0.301, 1.0, 40.0]
    found = model.smoothed_relu(torch.tensor(points, dtype=torch.float64), q, VARRHO)
    wanted = torch.tensor([piecewise(u, q, VARRHO) for u in points], dtype=torch.float64)
    torch.testing.assert_close(found, wanted, rtol=1e-13, atol=1e-16)


@pytest.mark.parametrize("q", EXPONENTS)
@pytest.mark.parametrize("varrho", [0.05, 0.3, 1.0])
def test_the_slope_is_the_derivative_of_the_value(q, varrho):
    # an even number of points: none of them lies on a joint
    u = torch.linspace(-1.5 * varrho, 3.1 * varrho, 200, dtype=torch.float64, requires_grad=True)
    (wanted,) = torch.autograd.grad(model.smoothed_relu(u, q, varrho).sum(), u)
    slope = model.smoothed_relu_slope(u.detach(), q, varrho)
    torch.testing.assert_close(slope, wanted, rtol=1e-12, atol=1e-14)


def test_the_encoder_sums_each_kernel_over_the_patches():
    stream = torch.Generator().manual_seed(1)
    x = torch.randn(2, 3, 4, 5, generator=stream, dtype=torch.float64)
    w = torch.randn(2, 6, 5, generator=stream, dtype=torch.float64)
    wanted = torch.zeros(2, 3, 6, dtype=torch.float64)
    for r in range(2):
        for n in range(3):
            for kernel in range(6):
                for p in range(4):
                    u = float(w[r, kernel] @ x[r, n, p])
                    wanted[r, n, kernel] += piecewise(u, 3, VARRHO)
    torch.testing.assert_close(model.encode(x, w, 3, VARRHO), wanted, rtol=1e-12, atol=1e-13)


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
