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


def signed_uniform(n: int, d: int, gamma: float, generator: torch.Generator) -> Tensor:
    """(n, d) float64: each U[0, 1] with probability 1/2 + gamma, else U[-1, 0]."""
    values = torch.rand(n, d, generator=generator, dtype=torch.float64)
    flips = torch.rand(n, d, generator=generator, dtype=torch.float64) >= 0.5 + gamma
    return torch.where(flips, values - 1, values)


def sums(n: int, r: int, d: int, gamma: float, generator: torch.Generator) -> Sums:
    """n draws of both sums; ``gamma`` negative for the unseen domain."""
    parts = []
    for count in _chunks(n, d):
        invariant = torch.rand(count, r, generator=generator, dtype=torch.float64).sum(1)
        parts.append((invariant, signed_uniform(count, d - r, gamma, generator).sum(1)))
    return Sums(torch.cat([one[0] for one in parts]), torch.cat([one[1] for one in parts]))


def _chunks(n: int, d: int) -> list[int]:
    most = max(1, CHUNK // d)
    return [min(most, n - start) for start in range(0, n, most)]


def optimum(seen: Sums, r: int, d: int, penalty: float) -> tuple[float, float]:
    """(alpha, beta) of ERM-l2, eq. (6.4) reduced as in (E.10), by Newton with backtracking.

    Raises
    ------
    ArithmeticError
        If the gradient does not vanish.
    """
    s = torch.stack(seen, 1)
    weight = penalty * torch.tensor([r, d - r], dtype=torch.float64)
    w = torch.zeros(2, dtype=torch.float64)

    def loss(at: Tensor) -> Tensor:
        return functional.softplus(-(s @ at)).mean() + (weight * at.square()).sum() / 2

    for _ in range(200):
        share = torch.sigmoid(-(s @ w))
        gradient = -(share[:, None] * s).mean(0) + weight * w
        if gradient.abs().max() < 1e-9 * (1 + weight.max()):
            return float(w[0]), float(w[1])
        curvature = (share * (1 - share))[:, None] * s
        hessian = curvature.T @ s / len(s) + torch.diag(weight)
        step = torch.linalg.solve(hessian, gradient)
        here, size = loss(w), 1.0
        while loss(w - size * step) > here - 1e-4 * size * (gradient @ step) and size > 1e-8:
            size /= 2
        w = w - size * step
    raise ArithmeticError(f"Newton: gradient {gradient.tolist()}; expected 0")


def accuracy(seen: Sums, alpha: float, beta: float) -> float:
    """Share of draws with alpha S_R + beta S_U > 0."""
    score = alpha * seen.invariant + beta * seen.environment
    return float((score > 0).double().mean())


def gaussian_accuracy(ratio: float, r: int, d: int, gamma: float) -> float:
    """The same for weights of this ratio alpha / beta, by the central limit theorem.

    ``gamma`` negative for the unseen domain.
    """
    mean = ratio * r / 2 + (d - r) * gamma
    variance = ratio**2 * r / 12 + (d - r) * (1 / 3 - gamma**2)
    return 0.5 * (1 + math.erf(mean / math.sqrt(2 * variance)))


def threshold(r: int, gamma: float) -> float:
    """d - r above which ERM-l2 fails more often than not, r / (4 gamma^2).

    Where alpha / beta is 1 / (2 gamma).
    """
    return r / (4 * gamma**2)


def whitened_ratio(gamma: float) -> float:
    """alpha / beta of a strong nuclear-norm penalty: 6 (1/3 - gamma^2) / gamma.

    With a linear featuriser A and a fixed head the effective weight w = A^T h has the least
    ||X A^T||_* = sqrt(n) sqrt(w^T Sigma w) / ||h||: the penalty is on the output's size, and its
    strong limit is Sigma^-1 mu.
    """
    return 6 * (1 / 3 - gamma**2) / gamma


def whitened_threshold(r: int, gamma: float) -> float:
    """d - r above which the whitened weights fail too: r (1 - 3 gamma^2) / gamma^2."""
    return r * (1 - 3 * gamma**2) / gamma**2


def best_supports(z: Tensor, budgets: Sequence[int], penalty: float) -> dict[int, tuple[int, ...]]:
    """ERM-rank, eq. (6.5), by exhaustive search: of each budget the support of the least loss.

    Without a norm bound no minimiser exists, as loss 0 is approached at infinity; a small l2
    penalty makes one.

    Parameters
    ----------
    z : (n, d)
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
        found[budget] = supports[int(loss.argmin())]
    return found
