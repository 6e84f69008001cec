"""Contrastive losses of many small networks at once.

A network is a linear layer, ``last`` and ``offset``, behind a body, ``Linear(d, hidden) - ReLU`` if
nothing else is said; its output is the representation.
Tensors carry a leading axis P, a network each; a loss is (P,), and no network sees another.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

Weights = dict[str, Tensor]
#: What lies before the last layer: weights and samples (P, n, d) to (P, n, hidden).
Body = Callable[[Mapping[str, Tensor], Tensor], Tensor]
#: Rows of the bank in which NNCLR looks for neighbours.
BANK = 512


@dataclass(frozen=True)
class Recipe:
    """How a network is pre-trained: with a cosine from ``rate`` to 0.

    ``momentum``: what of a momentum encoder a step keeps; the thesis has .99 for 800 epochs, over
    some hundred steps that encoder lags. ``queue``: steps whose keys MoCo holds.
    """

    method: str
    steps: int
    batch: int
    rate: float
    temperature: float = 0.2
    momentum: float = 0.9
    queue: int = 1
    optimiser: str = "adam"


def layer(rows: int, columns: int, random: Sequence[torch.Generator]) -> Tensor:
    """Random weights (P, rows, columns) with He's scale, a generator a network."""
    drawn = [torch.randn(rows, columns, generator=own) for own in random]
    return torch.stack(drawn) * (2 / columns) ** 0.5


def start(width: int, hidden: int, out: int, random: Sequence[torch.Generator]) -> Weights:
    """Encoders at their start, a generator a network."""
    return {
        "first": layer(hidden, width, random), "bias": torch.zeros(len(random), 1, hidden),
        "last": layer(out, hidden, random), "offset": torch.zeros(len(random), 1, out),
    }  # fmt: skip


def repeated(weights: Mapping[str, Tensor], times: int) -> Weights:
    """Copies of all networks, one after the other: (P, ...) to (times x P, ...)."""
    return {key: own.repeat(times, *[1] * (own.dim() - 1)) for key, own in weights.items()}


def hidden_layer(weights: Mapping[str, Tensor], x: Tensor) -> Tensor:
    """(P, n, hidden) of samples (P, n, d)."""
    return torch.relu(torch.baddbmm(weights["bias"], x, weights["first"].mT))


def encode(weights: Mapping[str, Tensor], x: Tensor, body: Body = hidden_layer) -> Tensor:
    """(P, n, width) of samples (P, n, d)."""
    return torch.baddbmm(weights["offset"], body(weights, x), weights["last"].mT)


def unit(x: Tensor) -> Tensor:
    return functional.normalize(x, dim=-1)


def info_nce(query: Tensor, keys: Tensor, temperature: float) -> Tensor:
    """(P,) cross-entropy of telling a query's own key, in its row, from all ``keys``."""
    logits = query @ keys.mT / temperature
    return (logits.logsumexp(-1) - logits.diagonal(dim1=-2, dim2=-1)).mean(-1)


def batch_norm(x: Tensor) -> Tensor:
    """(P, n, width) with mean 0 and variance 1 over the batch, without scale and shift."""
    centred = x - x.mean(1, keepdim=True)
    return centred / (centred.square().mean(1, keepdim=True) + 1e-5).sqrt()


class SimCLR:
    """In-batch InfoNCE of both directions on normalised outputs, without a head.

    ``weights``: encoders at their start, P = spans x R, trained in place. ``random``: of heads and
    banks, a generator a replicate; all spans begin with the same.
    """

    def __init__(
        self, weights: Weights, temperature: float, random: Sequence[torch.Generator],
        body: Body = hidden_layer,
    ):  # fmt: skip
        self.weights, self.temperature, self.body = weights, temperature, body
        self.heads: Weights = {}
        spans = len(weights["last"]) // len(random)
        self.build(weights["last"].shape[1], random, spans)

    def build(self, width: int, random: Sequence[torch.Generator], spans: int) -> None:
        """Heads and memories of a method that has them."""

    def encode(self, x: Tensor) -> Tensor:
        """(P, n, width) of samples (P, n, d)."""
        return encode(self.weights, x, self.body)

    def judged(self, features: tuple[Tensor, Tensor], views: tuple[Tensor, Tensor]) -> Tensor:
        """(P,) loss of features of these views."""
        a, b = unit(features[0]), unit(features[1])
        return (info_nce(a, b, self.temperature) + info_nce(b, a, self.temperature)) / 2

    def loss(self, *views: Tensor) -> Tensor:
        """(P,) of two views (P, n, d)."""
        both = (views[0], views[1])
        return self.judged((self.encode(both[0]), self.encode(both[1])), both)

    def after(self) -> None:
        """What a step ends with."""


class MoCo(SimCLR):
    """MoCo v2 without a head: momentum keys, negatives of a queue, the sum of both ways."""

    def build(self, width: int, random: Sequence[torch.Generator], spans: int) -> None:
        self.slow = {name: value.detach().clone() for name, value in self.weights.items()}
        self.queue: list[Tensor] = []
        self.momentum, self.queued = 0.9, 1

    def judged(self, features: tuple[Tensor, Tensor], views: tuple[Tensor, Tensor]) -> Tensor:
        with torch.no_grad():
            keys = [unit(encode(self.slow, view, self.body)) for view in (views[1], views[0])]
        past, total = self.queue, torch.zeros(())
        for feature, key in zip(features, keys, strict=True):
            query = unit(feature)
            # a query meets its own key and the queue, not the keys of its batch
            own = (query * key).sum(-1, keepdim=True)
            rest = query @ torch.cat(past, 1).mT if past else query @ key.flip(1).mT
            logits = torch.cat([own, rest], -1) / self.temperature
            total = total + (logits.logsumexp(-1) - logits[..., 0]).mean(-1)
        self.queue = [*past, torch.cat(keys, 1)][-self.queued :]
        return total

    @torch.no_grad()
    def after(self) -> None:
        for name, value in self.slow.items():
            value.lerp_(self.weights[name].detach(), 1 - self.momentum)


class SimSiam(SimCLR):
    """A linear prediction head after a batch norm; the target is not differentiated.

    The head starts at the identity. With two-layer projection and prediction heads most of so
    narrow a representation collapsed in pilots (docs/universality.md).
    """

    def build(self, width: int, random: Sequence[torch.Generator], spans: int) -> None:
        self.heads["predict"] = torch.eye(width).repeat(len(random) * spans, 1, 1)

    def judged(self, features: tuple[Tensor, Tensor], views: tuple[Tensor, Tensor]) -> Tensor:
        z = [batch_norm(feature) for feature in features]
        p = [unit(each @ self.heads["predict"].mT) for each in z]
        ways = ((p[0], unit(z[1].detach())), (p[1], unit(z[0].detach())))
        return -sum(((a * b).sum(-1).mean(-1) for a, b in ways), torch.zeros(())) / 2


class NNCLR(SimSiam):
    """A view's prediction against the nearest neighbour of the other view, in a bank."""

    def build(self, width: int, random: Sequence[torch.Generator], spans: int) -> None:
        super().build(width, random, spans)
        drawn = torch.stack([torch.randn(BANK, width, generator=own) for own in random])
        self.bank = unit(drawn).repeat(spans, 1, 1)

    def nearest(self, z: Tensor) -> Tensor:
        """(P, n, width) the rows of the bank with the largest cosine."""
        place = (z @ self.bank.mT).argmax(-1)
        return self.bank.gather(1, place[..., None].expand(-1, -1, self.bank.shape[-1]))

    def judged(self, features: tuple[Tensor, Tensor], views: tuple[Tensor, Tensor]) -> Tensor:
        raw = [batch_norm(feature) for feature in features]
        p = [unit(each @ self.heads["predict"].mT) for each in raw]
        z = [unit(each.detach()) for each in raw]
        # looked up before this batch enters the bank
        loss = sum((info_nce(self.nearest(z[i]), p[1 - i], self.temperature) for i in (0, 1)),
                   torch.zeros(()))  # fmt: skip
        self.bank = torch.cat([self.bank, z[1]], 1)[:, -BANK:]
        return loss / 2


METHODS: dict[str, type[SimCLR]] = {
    "simclr": SimCLR, "moco": MoCo, "nnclr": NNCLR, "simsiam": SimSiam,
}  # fmt: skip
