"""The polynomial network of chapter 4 (eq. 4.2), its norms and its margins, for R networks at once.

A neuron looks up one number for each input, adds them up and takes the k-th power::

    f(a) = sum_i (u_i1[a_1] + ... + u_ik[a_k])^k w_i        in R^p

It is homogeneous of degree k + 1 in its weights: margins are over the norm to that power.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from featlearn.fourier.closed_forms import maximum_margin
from featlearn.fourier.data import labels, tuples

#: Hidden values that are computed at once where all inputs are looked at.
AT_ONCE = 1_000_000


class Network(NamedTuple):
    """Weights of R networks."""

    u: Tensor  #: (R, k, p, m) of the inputs
    w: Tensor  #: (R, p, m) of the outputs

    @property
    def k(self) -> int:
        return self.u.shape[1]

    @property
    def p(self) -> int:
        return self.u.shape[2]

    def vectors(self) -> Tensor:
        """The k + 1 vectors of each neuron, inputs first, (R, k + 1, p, m)."""
        return torch.cat([self.u, self.w[:, None]], 1)

    def scaled(self, factor: Tensor | float) -> Network:
        """All weights times a number, or a number a network (R,)."""
        each = torch.as_tensor(factor, dtype=self.w.dtype).expand(len(self.w))
        return Network(self.u * each[:, None, None, None], self.w * each[:, None, None])


def normal_start(k: int, p: int, width: int, std: float, streams: list[torch.Generator]) -> Network:
    """Independent N(0, std^2) weights; the thesis does not say how it starts."""
    drawn = [std * torch.randn(k + 1, p, width, generator=stream) for stream in streams]
    both = torch.stack(drawn)
    return Network(both[:, :k].contiguous(), both[:, k].contiguous())


def rows_of(a: Tensor, p: int, replicates: int) -> Tensor:
    """Rows of a table (R k p, m) that inputs (B, k) or (R, B, k) look up, (R B, k)."""
    k = a.shape[-1]
    first = torch.arange(replicates * k, device=a.device).view(replicates, 1, k) * p
    return (a + first).view(-1, k)


def sums(u: Tensor, rows: Tensor) -> Tensor:
    """h = u_1[a_1] + ... + u_k[a_k], (R, B, m): looked up, much faster than one-hot products."""
    replicates, k, p, width = u.shape
    table = u.reshape(replicates * k * p, width)
    return functional.embedding_bag(rows, table, mode="sum").view(replicates, -1, width)


def power(h: Tensor, exponent: int) -> Tensor:
    """h^exponent by products, for exponent >= 1."""
    result = h
    for _ in range(exponent - 1):
        result = result * h
    return result


def logits(network: Network, a: Tensor) -> Tensor:
    """f of inputs (B, k), the same for all, or (R, B, k): (R, B, p)."""
    rows = rows_of(a, network.p, len(network.u))
    return power(sums(network.u, rows), network.k) @ network.w.mT


def neuron_norms(network: Network) -> Tensor:
    """L2 norms of the neurons, (R, m)."""
    return (network.u.square().sum((1, 2)) + network.w.square().sum(1)).sqrt()


def norm(network: Network) -> Tensor:
    """||theta||_{2,k+1}: the (k + 1)-norm of the neurons' L2 norms, (R,)."""
    return torch.linalg.vector_norm(neuron_norms(network), network.k + 1, dim=-1)


class Margins(NamedTuple):
    """At norm 1, over the maximum margin gamma*, each (R,): least <= mean <= spread <= 1."""

    least: Tensor  #: right logit minus the largest wrong one, on the worst input
    mean: Tensor  #: the same, mean over the inputs
    spread: Tensor  #: right logit minus the mean of the wrong ones (tau = 1 / (p - 1)), mean


class Seen(NamedTuple):
    """What a network says of a set of inputs."""

    margins: Margins
    right: Tensor  #: (R, N) whether the largest logit is the label's


def look(network: Network, index: Tensor | None = None) -> Seen:
    """Margins and answers on the inputs of these numbers (N,), left out on all p^k."""
    k, p = network.k, network.p
    index = torch.arange(p**k, device=network.u.device) if index is None else index
    parts = [_margins(one, labels(a, p)) for a, one in _blocks(network, index)]
    gap, spread = (torch.cat(columns, 1) for columns in zip(*parts, strict=True))
    scale = norm(network).double() ** (k + 1) * maximum_margin(k, p)
    margins = Margins(gap.amin(1) / scale, gap.double().mean(1) / scale,
                      spread.double().mean(1) / scale)  # fmt: skip
    return Seen(margins, gap > 0)


def _blocks(network: Network, index: Tensor) -> Iterator[tuple[Tensor, Tensor]]:
    size = max(1, AT_ONCE // network.w[:, 0].numel())
    for begin in range(0, len(index), size):
        a = tuples(index[begin : begin + size], network.k, network.p)
        yield a, logits(network, a)


def _margins(f: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """Right logit minus the largest wrong one, and minus the mean wrong one, (R, N) each."""
    own = y.expand(f.shape[:2])[..., None]
    right = f.gather(-1, own).squeeze(-1)
    wrong = f.scatter(-1, own, -torch.inf).amax(-1)
    return right - wrong, right - (f.sum(-1) - right) / (f.shape[-1] - 1)
