"""Contrastive pre-training of many small networks at once, on vectors.

A network is ``Linear(d, hidden) - ReLU - Linear(hidden, width)``; its output is the representation.
All of them train in one program: tensors carry a leading axis P = rungs x replicates.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from featlearn.universality.data import World, draw_latent, seen

Weights = dict[str, Tensor]
#: The share of a momentum encoder that a step keeps, and the batches of its queue.
MOMENTUM, QUEUED = 0.99, 2


@dataclass(frozen=True)
class Recipe:
    """How a network is pre-trained."""

    method: str
    steps: int
    batch: int
    rate: float
    temperature: float = 0.2


def start(width: int, hidden: int, out: int, random: Sequence[torch.Generator]) -> Weights:
    """Random weights, a generator a network, with He's scale."""

    def layer(rows: int, columns: int) -> Tensor:
        drawn = [torch.randn(rows, columns, generator=own) for own in random]
        return torch.stack(drawn) * (2 / columns) ** 0.5

    return {"first": layer(hidden, width), "bias": torch.zeros(len(random), 1, hidden),
            "last": layer(out, hidden), "offset": torch.zeros(len(random), 1, out)}  # fmt: skip


def encode(weights: Mapping[str, Tensor], x: Tensor) -> Tensor:
    """(P, n, width) of samples (P, n, d)."""
    hidden = torch.relu(torch.baddbmm(weights["bias"], x, weights["first"].mT))
    return torch.baddbmm(weights["offset"], hidden, weights["last"].mT)


def info_nce(query: Tensor, keys: Tensor, temperature: float) -> Tensor:
    """(P,) cross-entropy of telling a query's own key, in its row, from all ``keys``."""
    logits = query @ keys.mT / temperature
    return (logits.logsumexp(-1) - logits.diagonal(dim1=-2, dim2=-1)).mean(-1)


def unit(x: Tensor) -> Tensor:
    return functional.normalize(x, dim=-1)


class SimCLR:
    """In-batch InfoNCE of both directions on normalised outputs."""

    def __init__(self, weights: Weights, recipe: Recipe):
        self.weights, self.recipe = weights, recipe

    def loss(self, one: Tensor, two: Tensor) -> Tensor:
        """(P,) of two views (P, n, d)."""
        a, b = unit(encode(self.weights, one)), unit(encode(self.weights, two))
        tau = self.recipe.temperature
        return (info_nce(a, b, tau) + info_nce(b, a, tau)) / 2

    def after(self) -> None:
        """What a step ends with."""


class MoCo(SimCLR):
    """MoCo v2 without a head: momentum keys, negatives of a queue, the sum of both ways."""

    def __init__(self, weights: Weights, recipe: Recipe):
        super().__init__(weights, recipe)
        self.slow = {name: value.detach().clone() for name, value in weights.items()}
        self.queue: list[Tensor] = []

    def loss(self, one: Tensor, two: Tensor) -> Tensor:
        with torch.no_grad():
            keys = [unit(encode(self.slow, view)) for view in (two, one)]
        past, total = self.queue, torch.zeros(())
        for view, key in zip((one, two), keys, strict=True):
            query = unit(encode(self.weights, view))
            # a query meets its own key and the queue, not the keys of its batch
            own = (query * key).sum(-1, keepdim=True)
            rest = query @ torch.cat(past, 1).mT if past else query @ key.flip(1).mT
            logits = torch.cat([own, rest], -1) / self.recipe.temperature
            total = total + (logits.logsumexp(-1) - logits[..., 0]).mean(-1)
        self.queue = [*past, torch.cat(keys, 1)][-QUEUED // 2 :]
        return total

    @torch.no_grad()
    def after(self) -> None:
        for name, value in self.slow.items():
            value.lerp_(self.weights[name].detach(), 1 - MOMENTUM)


METHODS: dict[str, Callable[[Weights, Recipe], SimCLR]] = {"simclr": SimCLR, "moco": MoCo}


def pretrain(
    weights: Weights,
    world: World,
    mixtures: Sequence[Sequence[int]],
    recipe: Recipe,
    random: Sequence[torch.Generator],
) -> Weights:
    """Pre-train the networks of each mixture of tasks, mixture by mixture, a replicate a world.

    ``weights`` have ``len(mixtures) * R`` networks and are trained in place by Adam with a cosine.
    All mixtures of a replicate share what is random but the tasks of the samples.
    """
    for value in weights.values():
        value.requires_grad_()
    method = METHODS[recipe.method](weights, recipe)
    optimiser = torch.optim.Adam(weights.values(), lr=recipe.rate, foreach=True)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, recipe.steps)
    chosen = [torch.tensor(list(mixture)) for mixture in mixtures]
    for _ in range(recipe.steps):
        place = torch.rand(len(random), recipe.batch, generator=random[0])
        tasks = [one[(place * len(one)).long()] for one in chosen]  # (R, n) each
        latent = draw_latent(world, tasks[0], random)
        views = []
        for _ in range(2):
            # one draw of the spurious features serves all mixtures
            state = [own.get_state() for own in random]
            rows = []
            for own in tasks:
                for generator, before in zip(random, state, strict=True):
                    generator.set_state(before)
                rows.append(seen(world, latent, own, random))
            views.append(torch.cat(rows))
        optimiser.zero_grad(set_to_none=True)
        method.loss(*views).sum().backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        schedule.step()
        method.after()
    return {name: value.detach() for name, value in weights.items()}
