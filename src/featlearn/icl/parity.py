"""Sparse parities in context (chapter 5, section 5.5): tasks, heads, constructions. float64.

A task is a pair (i, j) of d features, its label ``y = phi_i phi_j``. Of many examples a network
knows ``E[y phi] = 2 gamma (e_i + e_j)``, and a head V answers ``relu(E[y phi]^T V phi_q)``. All in
feature coordinates: V = G^T W G has the norm of W for any orthonormal dictionary G. Heads of the
chapter are diagonal and kept as their diagonals; full matrices as d^2 numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from math import isqrt
from typing import NamedTuple

import torch
from torch import Generator, Tensor

from featlearn.core.run.progress import Progress

DTYPE = torch.float64
#: Signs of (phi_i, phi_j), and the parts of their probabilities: 1/4 + c gamma.
SIGNS = torch.tensor([[1, 1], [1, -1], [-1, 1], [-1, -1]], dtype=DTYPE)
TILT = torch.tensor([1, 0, 0, -1], dtype=DTYPE)
LABELS = SIGNS.prod(1)


class Heads(NamedTuple):
    """m heads, g = sum_i a_i relu(...)."""

    a: Tensor  #: (..., m), in [-1, 1]
    v: Tensor  #: (..., m, d), diagonals, or (..., m, d^2) where full matrices are spoken of

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


def margins(heads: Heads, gamma: float) -> Tensor:
    """y g of each task and sign pattern in the limit of many examples, (..., P, 4)."""
    tasks = pairs(heads.v.shape[-1])
    read = 2 * gamma * heads.v[..., tasks] @ SIGNS.T  # (..., m, P, 4)
    return (heads.a[..., None, None] * read.relu()).sum(-3) * LABELS


def hinge(heads: Heads, gamma: float) -> Tensor:
    """Expected hinge loss of each task, (..., P)."""
    return (1 - margins(heads, gamma)).relu() @ (0.25 + gamma * TILT)


@cache
def queries(dimension: int) -> Tensor:
    """All queries of each task, (P, 2^d, d): by its :data:`SIGNS`, then those of others."""
    tasks, rest = pairs(dimension), dimension - 2
    bits = torch.arange(2**rest)[:, None] >> torch.arange(rest) & 1
    found = torch.empty(len(tasks), 4, len(bits), dimension, dtype=DTYPE)
    for own, task in zip(found, tasks.tolist(), strict=True):
        own[..., task] = SIGNS[:, None]
        own[..., [place for place in range(dimension) if place not in task]] = (1 - 2 * bits).to(
            DTYPE
        )
    return found.flatten(1, 2)


def full_margins(heads: Heads, gamma: float) -> Tensor:
    """y g of heads with full matrices, for each task and all its :func:`queries`, (..., P, 2^d)."""
    d = isqrt(heads.v.shape[-1])
    rows = heads.v.view(*heads.v.shape[:-1], d, d)[..., pairs(d), :].sum(-2)  # (..., m, P, d)
    read = 2 * gamma * torch.einsum("...mpd,pqd->...mpq", rows, queries(d))
    g = (heads.a[..., None, None] * read.relu()).sum(-3)
    return g * LABELS.repeat_interleave(2 ** (d - 2))


def full_hinge(heads: Heads, gamma: float) -> Tensor:
    """Expected hinge loss of each task, (..., P), with full matrices."""
    lost = (1 - full_margins(heads, gamma)).relu()
    return lost.view(*lost.shape[:-1], 4, -1).mean(-1) @ (0.25 + gamma * TILT)


def task_weights(dimension: int, count: int, rare: float) -> Tensor:
    """Probability of each task: S2 with ``rare`` (p_T), uniform within (P,)."""
    first = important(pairs(dimension), count)
    return torch.where(first, (1 - rare) / first.sum(), rare / (~first).sum()).to(DTYPE)


def printed(bits: int, dimension: int, gamma: float) -> Heads:
    """The 2 (bits + 1) heads of Theorem 5.5.1: g1 with bits = nu_1, g2 with nu_2. A head for each
    binary digit of l - 1 and one for the sum, each with either sign."""
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


def least_norm(heads: Heads, gamma: float, margins: Tensor) -> Tensor:
    """16 gamma^2 sum ||V||^2 when scaled to a least margin of 1; infinite without a margin."""
    least = margins.flatten(-2).min(-1).values
    found = 16 * gamma**2 * heads.norm / least.square()
    return torch.where(least > 1e-9, found, torch.inf)


def projected(heads: Heads) -> Tensor:
    """Rank of the heads' diagonals: M E||P_D(Xi)||^2 of Theorem 5.5.2 for noise +-1 over M."""
    return torch.linalg.matrix_rank(heads.v)


class Sample(NamedTuple):
    """Prompts of one task, (B, ...)."""

    read: Tensor  #: (B, d), mean y phi of the examples times phi of the query
    query: Tensor  #: (B, d), phi
    label: Tensor  #: (B,), of the query


def sample(
    dimension: int, task: tuple[int, int], gamma: float, examples: int, prompts: int,
    stream: Generator, flipped: float = 0.0,
) -> Sample:  # fmt: skip
    """Prompts of M examples. ``flipped``: share of the labels that are inverted, at random."""
    size = (prompts, examples + 1)
    phi = (torch.rand(*size, dimension, generator=stream) < 0.5).to(DTYPE) * 2 - 1
    which = torch.multinomial(
        0.25 + gamma * TILT, prompts * (examples + 1), replacement=True, generator=stream
    ).view(size)
    phi[..., list(task)] = SIGNS[which]
    y = LABELS[which]
    labels = y[:, :-1, None]
    if flipped:
        turned = torch.rand(labels.shape, generator=stream) < flipped
        labels = torch.where(turned, -labels, labels)
    return Sample((labels * phi[:, :-1]).mean(1) * phi[:, -1], phi[:, -1], y[:, -1])


def answers(heads: Heads, read: Tensor) -> Tensor:
    """h = sum_i a_i relu(v_i . read), (..., B) of reads (B, d)."""
    return (heads.a[..., None] * (heads.v @ read.T).relu()).sum(-2)


def accuracy(heads: Heads, sample: Sample) -> Tensor:
    """Share (...) of right answers; g = 0 counts half."""
    g = answers(heads, sample.read)
    return ((g * sample.label > 0) + 0.5 * (g == 0)).to(DTYPE).mean(-1)


def noise_terms(
    heads: Heads, sample: Sample, task: tuple[int, int], gamma: float, fresh: Tensor
) -> dict[str, Tensor]:
    """What the answer g of finite prompts holds beside its signal (Theorem 5.5.2), (B,) each.

    A read is the signal 2 gamma phi_q at the two features of the task, what the finite number of
    examples adds to it there, and the noise of all other features. The theorem takes ``fresh`` for
    the second, a mean of M signs, and its projection to the span of the heads, which by itself
    changes nothing: v . P(Xi) = v . Xi. ``fresh``: (B, 2), independent of the sample. Returns dict:
    ``noise``: what all noise adds to the signal's answer; ``others``: that of other features alone;
    ``task``: what the task's own features then add; ``projected``: what P(Xi) of the theorem adds
    to the signal; ``remainder``: epsilon, what is left of g; ``energy``: ||P(Xi)||^2.
    """
    places = list(task)
    signal, xi = torch.zeros_like(sample.read), sample.read.clone()
    signal[:, places] = 2 * gamma * sample.query[:, places]
    xi[:, places] = 0
    g, clean, others = (answers(heads, read) for read in (sample.read, signal, signal + xi))
    xi[:, places] = fresh
    left, sizes, _ = torch.linalg.svd(heads.v.T, full_matrices=False)
    basis = left[:, sizes > 1e-9 * sizes[0]]
    projected = answers(heads, signal + xi @ basis @ basis.T)
    return {"noise": g - clean, "others": others - clean, "task": g - others,
            "projected": projected - clean, "remainder": g - projected,
            "energy": (xi @ basis).square().sum(1)}  # fmt: skip


def trained(
    label: str, shape: tuple[int, int], gamma: float, objective: Callable[[Heads], Tensor], *,
    restarts: int, steps: int, rate: float, streams: Sequence[Generator],
) -> Heads:  # fmt: skip
    """Adam on an exact population objective, of each replicate the best of its restarts (R,).

    ``shape``: heads m and numbers of a head: d, or d^2 of full matrices. ``objective``: (R,
    restarts) of so many networks, the penalty among it.
    """
    m, size = shape
    start = [
        (2 * torch.rand(restarts, m, generator=one, dtype=DTYPE) - 1,
         torch.randn(restarts, m, size, generator=one, dtype=DTYPE) * 0.5 / (4 * gamma))
        for one in streams
    ]  # fmt: skip
    a, v = (torch.stack(part).requires_grad_() for part in zip(*start, strict=True))
    optimiser = torch.optim.Adam([a, v], fused=True)
    progress = Progress(label, steps)
    for step in range(steps):
        optimiser.param_groups[0]["lr"] = rate * (1 - step / steps)
        optimiser.zero_grad()
        objective(Heads(a, v)).sum().backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        with torch.no_grad():
            a.clamp_(-1, 1)
        progress.report(step + 1, dict)
    with torch.no_grad():
        best = objective(Heads(a, v)).argmin(1)
        rows = torch.arange(len(best))
        return Heads(a[rows, best], v[rows, best])
