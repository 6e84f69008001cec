"""The two-layer network of chapter 2 in reduced coordinates, its start and its exact gradients.

``g(x) = sum_i a_i sigma(<w_i, x> + b_i)`` with the truncated ReLU ``sigma(z) = min(1, max(z, 0))``
(eq. 2.2). As all inputs lie in the span of the D orthonormal patterns, ``<w_i, x> = <q_i, phi>``
with ``q_i = M^T w_i``. No gradient reaches the rest of ``w_i``: weight decay alone changes it, and
only its norm matters, to cosines. So one training by gradient descent, momentum included, serves
every dimension d; Adam would see axes.

A neuron is a row ``[q_i, b_i]`` that meets the row ``[phi, 1]`` of a sample: tensors ``rows`` (R,
N, D + 1) and ``x`` (R, n, D + 1), replicates first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

#: Samples whose activations are held at a time, by full gradients and accuracies.
BLOCK = 1000


def truncated_relu(z: Tensor) -> Tensor:
    """``min(1, max(z, 0))``."""
    return z.clamp(0, 1)


def smoothed(z: Tensor, noise: float) -> Tensor:
    """Mean of ``sigma(z + xi)`` over Gaussian ``xi`` with the standard deviation ``noise``.

    ``F(z) - F(z - 1)`` with ``F(u) = u Phi(u / s) + s phi(u / s)``, the mean of a ReLU.
    """
    return truncated_relu(z) if noise == 0 else smoothed_and_slope(z, noise)[0]


def smoothed_and_slope(z: Tensor, noise: float) -> tuple[Tensor, Tensor]:
    """:func:`smoothed` and its derivative ``Pr[0 < z + xi < 1]``, which share two probabilities."""
    if noise == 0:
        return truncated_relu(z), ((z > 0) & (z < 1)).to(z.dtype)
    mean, probability = zip(*(_mean_relu(u, noise) for u in (z, z - 1)), strict=True)
    return mean[0] - mean[1], probability[0] - probability[1]


def _mean_relu(u: Tensor, noise: float) -> tuple[Tensor, Tensor]:
    """``F(u)`` and ``Phi(u / s)``; in place where autograd allows it, which is faster."""
    v = u / noise
    positive = (v * 0.5**0.5).erf_().add_(1).mul_(0.5)
    # what float32 has no normal number for is zero: denormal ones are several times slower
    exponent = torch.threshold_(v.square().mul_(-0.5), -80.0, -torch.inf)
    density = (exponent.exp_() / (2 * torch.pi) ** 0.5).mul_(noise)
    return (u * positive).add_(density), positive


@dataclass(frozen=True)
class Network:
    """Weights of R networks of N neurons."""

    rows: Tensor  #: (R, N, D + 1): ``q_i`` and, last, ``b_i``
    a: Tensor  #: (R, N): Output weights
    #: Factor by which weight decay has multiplied the part of each weight outside the patterns.
    kept: float = 1.0

    @property
    def q(self) -> Tensor:
        return self.rows[..., :-1]

    @property
    def b(self) -> Tensor:
        return self.rows[..., -1]


def with_one(phi: Tensor) -> Tensor:
    """(..., D) to (..., D + 1): a last coordinate 1, which biases meet."""
    return torch.cat([phi, torch.ones_like(phi[..., :1])], -1)


def symmetric_start(
    pairs: int, patterns: int, stds: tuple[float, float, float], streams: Sequence[torch.Generator],
    dtype: torch.dtype = torch.float32,
) -> Network:  # fmt: skip
    """2m neurons in pairs with the same w and b and opposite a, so that the output is zero.

    ``pairs``: m; neuron m + i is the partner of neuron i. ``stds``: of the coordinates of w, of b
    and of a (sigma_w, sigma_b, sigma_a); see :func:`featlearn.emergence.train.start_stds`.
    """
    rows, a = [], []
    for stream in streams:
        drawn = torch.randn(pairs, patterns + 2, generator=stream, dtype=torch.float64)
        row = drawn[:, :-1] * torch.tensor([stds[0]] * patterns + [stds[1]])
        rows.append(torch.cat([row, row]))
        a.append(torch.cat([drawn[:, -1], -drawn[:, -1]]) * stds[2])
    return Network(torch.stack(rows).to(dtype), torch.stack(a).to(dtype))


def outside(pairs: int, missing: int, std: float, streams: Sequence[torch.Generator]) -> Tensor:
    """(R, 2m, ``missing`` = d - D) initial weights outside the patterns; ``std`` is sigma_w."""
    drawn = [std * torch.randn(pairs, missing, generator=stream) for stream in streams]
    return torch.stack([torch.cat([one, one]) for one in drawn])


def directions(network: Network, rest: Tensor) -> Tensor:
    """(R, N, d) weights of length one; ``rest`` as of :func:`outside`. Zero stays zero."""
    whole = torch.cat([network.q, network.kept * rest], -1).double()
    norm = whole.norm(dim=-1, keepdim=True)
    return torch.where(norm > 0, whole / norm, 0.0)


def cosines(network: Network, direction: Tensor, rest: Tensor) -> Tensor:
    """(R, N) cosines between weights and a unit direction (R, D) of the patterns. ``rest`` (R, N)
    are the initial norms of :func:`outside`. A weight of norm zero has the cosine 0."""
    q = network.q.double()
    length = (q.square().sum(-1) + (network.kept * rest).square()).sqrt()
    along = (q * direction[:, None].to(q.dtype)).sum(-1)
    return torch.where(length > 0, along / length, 0.0)


def medians(values: Tensor) -> Tensor:
    """(R,) medians of the rows (R, N), of an even number the lower middle one; NaN if one is NaN.
    As ``values.median(1).values``, which CUDA has no repeatable kernel for."""
    return values.quantile(0.5, 1, interpolation="lower")


def output(network: Network, x: Tensor, noise: float = 0.0) -> Tensor:
    """(R, n) outputs at inputs (R, n, D + 1), in blocks of samples."""
    # one replicate at a time: the activations of a block stay in the cache
    result = []
    for own, rows, a in zip(x, network.rows, network.a, strict=True):
        blocks = [smoothed(part @ rows.T, noise) @ a for part in torch.split(own, BLOCK)]
        result.append(torch.cat(blocks))
    return torch.stack(result)


def full_gradients(
    network: Network, x: Tensor, y: Tensor, weight: Tensor, noise: float
) -> tuple[Tensor, Tensor]:
    """Gradients of the weighted, smoothed hinge loss over all samples (A.19-A.21, A.317-A.319).

    ``x`` (R, n, D + 1). ``y`` (R, n). ``weight`` (R, n): alpha_y, of each sample; ones for the
    plain loss. ``noise``: standard deviation sigma_xi of the noise in the pre-activations, averaged
    over. Returns gradients by rows (R, N, D + 1) and by a (R, N).
    """
    by_rows, by_a = torch.zeros_like(network.rows), torch.zeros_like(network.a)
    number = x.shape[1]
    for r, (rows, a) in enumerate(zip(network.rows, network.a, strict=True)):
        for here, label, alpha in zip(
            *(torch.split(each[r], BLOCK) for each in (x, y, weight)), strict=True
        ):
            act, slope = smoothed_and_slope(here @ rows.T, noise)
            # the samples that still count: y g <= 1
            c = label * alpha * (label * (act @ a) <= 1) / number
            by_a[r] -= c @ act
            by_rows[r] -= slope.mul_(c[:, None]).T @ here
    return by_rows * network.a[..., None], by_a
