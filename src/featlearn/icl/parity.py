"""Sparse parities in context (chapter 5, section 5.5): tasks, heads, constructions. float64.

A task is a pair (i, j) of d features, its label ``y = phi_i phi_j``. Of many examples a network
knows ``E[y phi] = 2 gamma (e_i + e_j)``, and a head V answers ``relu(E[y phi]^T V phi_q)``. All in
feature coordinates: V = G^T W G has the norm of W for any orthonormal dictionary G. Heads of the
chapter are diagonal and kept as their diagonals.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Generator, Tensor

from featlearn.core.progress import Progress

DTYPE = torch.float64
#: Signs of (phi_i, phi_j), and the parts of their probabilities: 1/4 + c gamma.
SIGNS = torch.tensor([[1, 1], [1, -1], [-1, 1], [-1, -1]], dtype=DTYPE)
TILT = torch.tensor([1, 0, 0, -1], dtype=DTYPE)
LABELS = SIGNS.prod(1)


class Heads(NamedTuple):
    """m heads, g = sum_i a_i relu(...)."""

    a: Tensor  #: (..., m), in [-1, 1]
    v: Tensor  #: (..., m, d), diagonals

    @property
    def norm(self) -> Tensor:
        """sum ||V||^2, (...)."""
        return self.v.square().sum((-2, -1))


def pairs(dimension: int) -> Tensor:
    """All tasks i < j, (P, 2); an ordered pair and its turn are the same function."""
    return torch.combinations(torch.arange(dimension), 2)


def important(tasks: Tensor, count: int) -> Tensor:
    """Which tasks are of S1: both features among the first ``count`` (P,)."""
    return (tasks < count).all(-1)


def outputs(heads: Heads, gamma: float) -> Tensor:
    """g of each task and sign pattern in the limit of many examples, (..., P, 4)."""
    tasks = pairs(heads.v.shape[-1])
    read = 2 * gamma * heads.v[..., tasks] @ SIGNS.T  # (..., m, P, 4)
    return (heads.a[..., None, None] * read.relu()).sum(-3)


def margins(heads: Heads, gamma: float) -> Tensor:
    """y g, (..., P, 4)."""
    return outputs(heads, gamma) * LABELS


def hinge(heads: Heads, gamma: float) -> Tensor:
    """Expected hinge loss of each task, (..., P)."""
    return (1 - margins(heads, gamma)).relu() @ (0.25 + gamma * TILT)


def task_weights(dimension: int, count: int, rare: float) -> Tensor:
    """Probability of each task: S2 with ``rare`` (p_T), uniform within (P,)."""
    first = important(pairs(dimension), count)
    return torch.where(first, (1 - rare) / first.sum(), rare / (~first).sum()).to(DTYPE)


def loss(heads: Heads, gamma: float, weights: Tensor) -> Tensor:
    """Population hinge loss (...), without the penalty."""
    return hinge(heads, gamma) @ weights


# --------------------------------------------------------------------------- constructions


def printed(bits: int, dimension: int, gamma: float) -> Heads:
    """The 2 (bits + 1) heads of Theorem 5.5.1: g1 with bits = nu_1, g2 with nu_2.

    A head for each binary digit of l - 1 and one for the sum, each with either sign.
    """
    places = torch.arange(dimension)
    digits = torch.stack([(places >> bit) & 1 for bit in range(bits)]).to(DTYPE)
    half = torch.cat([2 * digits - 1, torch.full((1, dimension), -float(bits), dtype=DTYPE)])
    a = torch.tensor([-1.0] * bits + [1.0], dtype=DTYPE)
    return Heads(a.repeat(2), torch.cat([half, -half]) / (4 * gamma))


def four(dimension: int, gamma: float) -> Heads:
    """Ours: four heads that solve every task of any dimension, with margin 1 at least.

    ``|phi_i + phi_j| (d - 1) - |c_i phi_i + c_j phi_j|`` with distinct c_l in [-(d - 1), d - 1].
    """
    c = 2 * torch.arange(1, dimension + 1, dtype=DTYPE) - dimension - 1
    flat = torch.full((dimension,), float(dimension - 1), dtype=DTYPE)
    a = torch.tensor([-1.0, -1.0, 1.0, 1.0], dtype=DTYPE)
    return Heads(a, torch.stack([c, -c, flat, -flat]) / (4 * gamma))


def lower_norm(gamma: float) -> Heads:
    """Ours: six heads of dimension 4 with margin 1 and less norm than the printed six."""
    first = torch.tensor([1.0, -1.0, 0.0, 0.0], dtype=DTYPE)
    second, flat = first.flip(0), torch.full((4,), 2.0, dtype=DTYPE)
    a = torch.tensor([-1.0] * 4 + [1.0] * 2, dtype=DTYPE)
    return Heads(a, torch.stack([first, -first, second, -second, flat, -flat]) / (4 * gamma))


def least_norm(heads: Heads, gamma: float) -> Tensor:
    """16 gamma^2 sum ||V||^2 when scaled to a least margin of 1; infinite without a margin."""
    least = margins(heads, gamma).flatten(-2).min(-1).values
    found = 16 * gamma**2 * heads.norm / least.square()
    return torch.where(least > 1e-9, found, torch.inf)


def projected(heads: Heads) -> Tensor:
    """Rank of the heads' diagonals: M E||P_D(Xi)||^2 of Theorem 5.5.2 for noise +-1 over M."""
    return torch.linalg.matrix_rank(heads.v)


# --------------------------------------------------------------------------- samples


def sampled_accuracy(
    heads: Heads,
    task: tuple[int, int],
    gamma: float,
    examples: int,
    prompts: int,
    stream: Generator,
    flipped: float = 0.0,
) -> Tensor:
    """Share of right answers (...) on one task by prompts of M examples; g = 0 counts half.

    Parameters
    ----------
    flipped
        Share of the labels that are inverted, at random.
    """
    d = heads.v.shape[-1]
    phi = (torch.rand(prompts, examples + 1, d, generator=stream) < 0.5).to(DTYPE) * 2 - 1
    which = torch.multinomial(
        0.25 + gamma * TILT, prompts * (examples + 1), replacement=True, generator=stream
    ).view(prompts, examples + 1)
    phi[..., list(task)] = SIGNS[which]
    y = LABELS[which]
    labels = y[:, :-1, None]
    if flipped:
        turned = torch.rand(labels.shape, generator=stream) < flipped
        labels = torch.where(turned, -labels, labels)
    read = (labels * phi[:, :-1]).mean(1) * phi[:, -1]  # (prompts, d)
    g = (heads.a[..., None] * (heads.v @ read.T).relu()).sum(-2)
    return ((g * y[:, -1] > 0) + 0.5 * (g == 0)).to(DTYPE).mean(-1)


# --------------------------------------------------------------------------- training


def trained(
    label: str,
    heads: int,
    dimension: int,
    gamma: float,
    weights: Tensor,
    penalty: float,
    *,
    restarts: int,
    steps: int,
    rate: float,
    streams: Sequence[Generator],
) -> Heads:
    """Adam on the exact population objective, of each replicate the best of its restarts (R,)."""
    shape = (restarts, heads)
    start = [
        (2 * torch.rand(*shape, generator=one, dtype=DTYPE) - 1,
         torch.randn(*shape, dimension, generator=one, dtype=DTYPE) * 0.5 / (4 * gamma))
        for one in streams
    ]  # fmt: skip
    a, v = (torch.stack(part).requires_grad_() for part in zip(*start, strict=True))
    optimiser = torch.optim.Adam([a, v], fused=True)
    progress = Progress(label, steps)

    def objective() -> Tensor:
        own = Heads(a, v)
        return loss(own, gamma, weights) + penalty * own.norm

    for step in range(steps):
        optimiser.param_groups[0]["lr"] = rate * (1 - step / steps)
        optimiser.zero_grad()
        objective().sum().backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        with torch.no_grad():
            a.clamp_(-1, 1)
        progress.report(step + 1, dict)
    with torch.no_grad():
        best = objective().argmin(1)
        rows = torch.arange(len(best))
        return Heads(a[rows, best], v[rows, best])
