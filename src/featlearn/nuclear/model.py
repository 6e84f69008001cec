"""The signed-uniform model of section 6.4, and what l2 and nuclear-norm penalties do in it.

z = y times the features has r invariant coordinates, U[0, 1], and d - r of the environment: U[0, 1]
with probability 1/2 + gamma in training and 1/2 - gamma in the unseen domain, else U[-1, 0]. By
symmetry the optimum of ERM-l2 has one weight alpha on all invariant and one, beta, on all other
coordinates (Lemma 6.1), so only the two sums S_R and S_U are drawn.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

#: Numbers drawn at once.
CHUNK = 4_000_000


class Sums(NamedTuple):
    """Sums over invariant coordinates and over those of the environment, (n,) float64 each."""

    invariant: Tensor
    environment: Tensor
    share: Tensor | None = None  #: probability of each pair; none where all have the same


def signed_uniform(
    n: int, d: int, gamma: float, generator: torch.Generator, dtype: torch.dtype = torch.float64
) -> Tensor:  # fmt: skip
    """(n, d): each U[0, 1] with probability 1/2 + gamma, else U[-1, 0]; one draw each."""
    u, low = torch.rand(n, d, generator=generator, dtype=dtype), 0.5 - gamma
    return torch.where(u < low, u / low - 1, (u - low) / (1 - low))


def sums(n: int, r: int, d: int, gamma: float, generator: torch.Generator) -> Sums:
    """n draws of both sums; ``gamma`` negative for the unseen domain."""
    parts, most = [], max(1, CHUNK // d)
    for start in range(0, n, most):
        count = min(most, n - start)
        invariant = torch.rand(count, r, generator=generator, dtype=torch.float64).sum(1)
        parts.append((invariant, signed_uniform(count, d - r, gamma, generator).sum(1)))
    return Sums(torch.cat([one[0] for one in parts]), torch.cat([one[1] for one in parts]))


def laws(r: int, d: int, gamma: float) -> Sums:
    """All pairs of the two sums on a lattice, with their probabilities: no draws.

    The density of a sum of n coordinates is the Fourier inverse of the n-th power of one's
    characteristic function. From ten coordinates on the lattice is exact to ten digits.
    """
    found = [_law(r, 0.5, r / 2, 1 / 12), _law(d - r, gamma, (d - r) * gamma, 1 / 3 - gamma**2)]
    (x, p), (y, q) = found
    share = (p[:, None] * q).flatten()
    return Sums(x.repeat_interleave(len(y)), y.repeat(len(x)), share / share.sum())


def _law(n: int, gamma: float, mean: float, variance: float) -> tuple[Tensor, Tensor]:
    """Values and probabilities of the sum of n coordinates of D_gamma."""
    count, step = 192, math.sqrt(n * variance) / 8
    first = mean - step * (count // 2)
    u = 2 * math.pi * torch.fft.fftfreq(count, step, dtype=torch.float64)
    one = (0.5 + gamma) * torch.exp(0.5j * u) + (0.5 - gamma) * torch.exp(-0.5j * u)
    one = one * torch.sinc(u / (2 * math.pi))
    density = torch.fft.fft(one**n * torch.exp(-1j * u * first)).real / count
    return first + step * torch.arange(count, dtype=torch.float64), density.clamp(min=0)


def optimum(seen: Sums, r: int, d: int, penalty: float, kind: str = "l2") -> tuple[float, float]:
    """(alpha, beta) of the penalised loss reduced as in (E.10), by Newton with backtracking.

    ``l2``: eq. (6.4), penalty / 2 |w|^2. ``nuclear``: penalty times the root of the mean square of
    the score, the least nuclear norm over sqrt(n). Raises ArithmeticError if the gradient does not
    vanish; for the nuclear norm also where the optimum is 0.
    """
    s = torch.stack([seen.invariant, seen.environment], 1)
    share = torch.full((len(s),), 1 / len(s)).double() if seen.share is None else seen.share
    weight = penalty * torch.tensor([r, d - r], dtype=torch.float64)
    second = (share[:, None] * s).T @ s
    w = torch.full((2,), 0.0 if kind == "l2" else 1e-2 / math.sqrt(d), dtype=torch.float64)

    def size(at: Tensor) -> Tensor:
        return ((weight * at.square()).sum() / 2 if kind == "l2"
                else penalty * (at @ second @ at).sqrt())  # fmt: skip

    def loss(at: Tensor) -> Tensor:
        return share @ functional.softplus(-(s @ at)) + size(at)

    for _ in range(200):
        wrong = torch.sigmoid(-(s @ w))
        curvature = (share * wrong * (1 - wrong))[:, None] * s
        if kind == "l2":
            slope, bend = weight * w, torch.diag(weight)
        else:
            root = (w @ second @ w).sqrt()
            slope = penalty * second @ w / root
            bend = penalty * second / root - torch.outer(slope, slope) / (penalty * root)
        gradient = slope - (share * wrong) @ s
        if gradient.abs().max() < 1e-9 * (1 + weight.max()):
            return float(w[0]), float(w[1])
        step = torch.linalg.solve(curvature.T @ s + bend, gradient)
        here, length = loss(w), 1.0
        while loss(w - length * step) > here - 1e-4 * length * (gradient @ step) and length > 1e-8:
            length /= 2
        w = w - length * step
    raise ArithmeticError(f"Newton: gradient {gradient.tolist()}; expected 0")


def accuracy(seen: Sums, alpha: float, beta: float) -> float:
    """Share of draws with alpha S_R + beta S_U > 0."""
    score = alpha * seen.invariant + beta * seen.environment
    return float((score > 0).double().mean())


def gaussian_accuracy(ratio: float, r: int, d: int, gamma: float) -> float:
    """The same of a ratio alpha / beta, by the central limit theorem; ``gamma`` < 0: unseen."""
    mean = ratio * r / 2 + (d - r) * gamma
    variance = ratio**2 * r / 12 + (d - r) * (1 / 3 - gamma**2)
    return 0.5 * (1 + math.erf(mean / math.sqrt(2 * variance)))


def threshold(r: int, gamma: float) -> float:
    """d - r above which ERM-l2 mostly fails, r / (4 gamma^2), at a ratio of 1 / (2 gamma)."""
    return r / (4 * gamma**2)


def whitened_ratio(gamma: float) -> float:
    """alpha / beta of a strong nuclear-norm penalty: 6 (1/3 - gamma^2) / gamma.

    With a linear featuriser A and a fixed head the effective weight w = A^T h has the least ||X
    A^T||_* = sqrt(n) sqrt(w^T Sigma w) / ||h||: its strong limit is Sigma^-1 mu.
    """
    return 6 * (1 / 3 - gamma**2) / gamma


def best_supports(
    z: Tensor, budgets: Sequence[int], penalty: float
) -> dict[int, tuple[tuple[int, ...], Tensor]]:
    """ERM-rank, eq. (6.5), by exhaustive search: of each budget support and weights of least loss.

    Without a norm bound no minimiser exists; a small l2 penalty makes one. ``z`` (n, d).
    """
    found = {}
    for budget in budgets:
        supports = list(itertools.combinations(range(z.shape[1]), budget))
        x = torch.stack([z[:, list(one)] for one in supports])
        w = torch.zeros(len(supports), budget, dtype=z.dtype)
        # Newton's method on all supports at once: small, strictly convex
        for _ in range(60):
            score = (x @ w[..., None]).squeeze(-1)
            share = torch.sigmoid(-score)
            gradient = -(share[..., None] * x).mean(1) + penalty * w
            curvature = (share * (1 - share))[..., None] * x
            hessian = curvature.mT @ x / len(z) + penalty * torch.eye(budget, dtype=z.dtype)
            step = torch.linalg.solve(hessian, gradient)
            w = w - step * (1 / (1 + step.norm(dim=-1, keepdim=True)))
        loss = functional.softplus(-(x @ w[..., None]).squeeze(-1)).mean(1)
        loss = loss + penalty / 2 * w.square().sum(1)
        best = int(loss.argmin())
        found[budget] = supports[best], w[best]
    return found
