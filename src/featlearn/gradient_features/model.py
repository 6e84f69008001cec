"""Two-layer ReLU networks, the starts of the algorithms, losses, and the networks of the proofs.

    g(x) = sum_i a_i relu(<w_i, x> - b_i)                                             (3.1)

Tensors carry a leading replicate axis R; M neurons, d coordinates, n inputs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from featlearn.gradient_features.data import GaussianMixture, Parity, UniformParity
from featlearn.gradient_features.law import Sample, random_signs, stacked


class Network(NamedTuple):
    """Weights of R networks."""

    w: Tensor  #: (R, M, d)
    a: Tensor  #: (R, M)
    b: Tensor  #: (R, M): thresholds, never trained

    def to(self, dtype: torch.dtype, device: torch.device | str = "cpu") -> Network:
        """In another precision, on another device."""
        return Network(*(part.to(device, dtype) for part in self))

    def chosen(self, neurons: Tensor) -> Network:
        """Only the neurons (R, M'), indices of each replicate."""
        rows = neurons[..., None].expand(-1, -1, self.w.shape[-1])
        return Network(self.w.gather(1, rows), self.a.gather(1, neurons), self.b.gather(1, neurons))

    def features(self, x: Tensor) -> Tensor:
        """relu(<w_i, x> - b_i) of inputs (R, n, d): (R, n, M)."""
        return torch.relu(x @ self.w.mT - self.b[:, None])

    def __call__(self, x: Tensor) -> Tensor:
        """g(x) of inputs (R, n, d): (R, n)."""
        return (self.features(x) @ self.a[..., None]).squeeze(-1)


class Loss(NamedTuple):
    """Value and derivatives by the network's output, of outputs and labels (R, n)."""

    value: Callable[[Tensor, Tensor], Tensor]
    slope: Callable[[Tensor, Tensor], Tensor]
    curve: Callable[[Tensor, Tensor], Tensor]
    #: Bound of the second derivative by the output; infinite where there is none.
    bend: float

    def mean(self, network: Network, inputs: Sample) -> Tensor:
        """Expected loss (R,)."""
        return (inputs.weight * self.value(network(inputs.x), inputs.y)).sum(-1)


#: ``logistic`` is over log 2: the framework asks for 1 at 0; ``square`` is for real labels.
LOSSES = {
    "hinge": Loss(
        lambda g, y: torch.relu(1 - y * g),
        lambda g, y: torch.where(y * g < 1, -y, 0.0),
        lambda g, _: torch.zeros_like(g),
        math.inf,
    ),
    "logistic": Loss(
        lambda g, y: torch.nn.functional.softplus(-y * g) / math.log(2),
        lambda g, y: -y * torch.sigmoid(-y * g) / math.log(2),
        lambda g, _: torch.sigmoid(g) * torch.sigmoid(-g) / math.log(2),
        1 / (4 * math.log(2)),
    ),
    "square": Loss(
        lambda g, y: (g - y).square(),
        lambda g, y: 2 * (g - y),
        lambda g, _: torch.full_like(g, 2),
        2.0,
    ),
}


def error(network: Network, inputs: Sample) -> Tensor:
    """Probability (R,) that the sign of the output is not the label."""
    return (inputs.weight * (network(inputs.x).sign() != inputs.y)).sum(-1)


def symmetric_start(
    streams: Sequence[torch.Generator], neurons: int, dimension: int, threshold: float,
) -> Network:  # fmt: skip
    """Symmetric start (3.9) of width 4 m, in three groups: g(x) = 0 for all x.

    Neurons 1..m are drawn, w ~ N(0, I), a ~ N(0, 1), b = ``threshold``; m+1..2m have -a, -w, -b;
    the other half repeats both with -a. ``neurons``: m, a quarter of the width.
    """

    def drawn(stream: torch.Generator) -> list[Tensor]:
        sizes = ((neurons, dimension), (neurons,))
        return [torch.randn(size, generator=stream, dtype=torch.float64) for size in sizes]

    w, a = stacked(drawn, streams)
    b = torch.full_like(a, threshold)
    half = Network(torch.cat([w, -w], 1), torch.cat([a, -a], 1), torch.cat([b, -b], 1))
    return doubled(half)


def doubled(half: Network) -> Network:
    """Each neuron again with the opposite output weight: g(x) = 0 for all x."""
    return Network(torch.cat([half.w, half.w], 1), torch.cat([half.a, -half.a], 1),
                   torch.cat([half.b, half.b], 1))  # fmt: skip


def uniform_parity_start(
    streams: Sequence[torch.Generator], neurons: int, dimension: int, block: int, *,
    thresholds: int | None = None,
) -> Network:  # fmt: skip
    """Start of Algorithm 6 (B.479), doubled: signs for a and w, thresholds from a grid; width 2 m.

    ``thresholds``: values of the grid from -1 + 1/k to 1 - 1/k, of which (B.479) shows the ends
    alone. Left out, ``block``, a step of 2/k, which the number of neurons in Theorem B.56 counts
    with; ``2 block - 1`` are a step of 1/k.
    """
    count = thresholds or block
    grid = torch.linspace(-1 + 1 / block, 1 - 1 / block, count, dtype=torch.float64)

    def drawn(stream: torch.Generator) -> tuple[Tensor, ...]:
        w, a = random_signs((neurons, dimension), stream), random_signs((neurons,), stream)
        return w, a, grid[torch.randint(count, (neurons,), generator=stream)]

    return doubled(Network(*stacked(drawn, streams)))


def multi_index_start(streams: Sequence[torch.Generator], neurons: int, dimension: int) -> Network:
    """Start of Algorithm 7 (B.561), doubled: a = +-1, w ~ N(0, I / d), b = 0; width 2 m."""

    def drawn(stream: torch.Generator) -> tuple[Tensor, Tensor]:
        w = torch.randn(neurons, dimension, generator=stream, dtype=torch.float64)
        return w / math.sqrt(dimension), random_signs((neurons,), stream)

    w, a = stacked(drawn, streams)
    return doubled(Network(w, a, torch.zeros_like(a)))


def mixture_truth(law: GaussianMixture, margin: float) -> Network:
    """A neuron a cluster, with threshold 2 ``margin`` and output label / ``margin`` (B.34, B.41).
    ``margin``: sqrt(tau log d) sigma, at most a quarter of the centres' norm."""
    units = law.means / law.means.norm(dim=1, keepdim=True)
    b = torch.full_like(law.labels, 2 * margin)
    return Network(units[None], (law.labels / margin)[None], b[None])


def parity_truth(law: Parity | UniformParity) -> Network:
    """A triangle wave along each direction, k + 3 neurons (Lemma B.50, B.551): no hinge loss.

    The proofs write a bump of three neurons for each number of +1 of a block; neighbours share
    kinks, which are merged here.
    """
    k = law.block
    counts = torch.arange(k + 1, dtype=torch.float64)
    sign = (-1.0) ** (counts + k)  # of the parity with so many +1
    root = math.sqrt(k)
    ends = torch.tensor([-k - 1, k + 1], dtype=torch.float64)
    b = torch.cat([2 * counts - k, ends]) / root
    a = root * torch.cat([-2 * sign, sign[[0, -1]]])
    w = law.directions.repeat_interleave(len(b), 0)
    blocks = len(law.directions)
    return Network(w[None], a.repeat(blocks)[None], b.repeat(blocks)[None])
