"""Contrastive pre-training of many small networks in one program: P = spans x replicates.

A span is what a pre-training holds: some tasks, drawn afresh at every step, or a pool of samples.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from featlearn.universality.data import World, draw_latent, noise_of, seen
from featlearn.universality.methods import (
    METHODS,
    Body,
    MoCo,
    Recipe,
    SimCLR,
    Weights,
    hidden_layer,
)

#: Two views (P, n, d) of a batch, span by span, a replicate each.
Views = Iterator[tuple[Tensor, Tensor]]


class Pool(NamedTuple):
    """Samples that a pre-training has, without their labels."""

    tasks: Tensor  #: (N,)
    shared: Tensor  #: (R, N, s)
    private: Tensor  #: (R, N, q)


def fresh(
    world: World, spans: Sequence[Sequence[int]], batch: int, random: Sequence[torch.Generator]
) -> Views:
    """New samples of the tasks of each span; all spans share what is random but the tasks."""
    chosen = [torch.tensor(list(span)) for span in spans]
    while True:
        place = torch.stack([torch.rand(batch, generator=own) for own in random])
        tasks = [one[(place * len(one)).long()] for one in chosen]  # (R, n) each
        latent = draw_latent(world, tasks[0], random)
        yield _two_views(world, [(latent, own) for own in tasks], random)


def pooled(
    world: World, pools: Sequence[Pool], batch: int, random: Sequence[torch.Generator]
) -> Views:
    """Samples of a pool each span, drawn with replacement."""
    rows = torch.arange(len(random))[:, None]
    while True:
        place = torch.stack([torch.rand(batch, generator=own) for own in random])
        drawn = []
        for pool in pools:
            own = (place * len(pool.tasks)).long()  # (R, n)
            drawn.append(((pool.shared[rows, own], pool.private[rows, own]), pool.tasks[own]))
        yield _two_views(world, drawn, random)


def _two_views(
    world: World,
    samples: Sequence[tuple[tuple[Tensor, Tensor], Tensor]],
    random: Sequence[torch.Generator],
) -> tuple[Tensor, Tensor]:
    """Views of latent samples and their tasks, a pair a span; spurious features are common."""
    count = samples[0][1].shape[-1]
    views = []
    for _ in range(2):
        noise = noise_of(world, count, random)
        views.append(torch.cat([seen(world, latent, own, noise) for latent, own in samples]))
    return views[0], views[1]


def pretrain(
    weights: Weights, views: Views, recipe: Recipe, random: Sequence[torch.Generator],
    decay: Tensor | None = None, body: Body = hidden_layer,
) -> SimCLR:  # fmt: skip
    """Train ``weights`` of P = spans x R networks, span by span, in place from their start.

    ``random``: of heads and banks, a generator a replicate. ``decay`` (P,): decoupled weight decay
    of each network. ``body``: of the encoders. Returns the method with its ``weights``.
    """
    method = METHODS[recipe.method](weights, recipe.temperature, random, body)
    if isinstance(method, MoCo):
        method.momentum, method.queued = recipe.momentum, recipe.queue
    descend(method, method.loss, views, recipe.steps, recipe.rate, decay=decay,
            optimiser=recipe.optimiser)  # fmt: skip
    return method


def descend(
    method: SimCLR, loss: Callable[..., Tensor], batches: Iterator[Any], steps: int, rate: float,
    more: Sequence[Tensor] = (), decay: Tensor | None = None, optimiser: str = "adam",
) -> None:  # fmt: skip
    """Minimise ``loss(*batch)`` (P,) over a method's weights and ``more``, with a cosine.

    ``optimiser``: ``adam``, or ``sgd`` with a momentum of .9.
    """
    trained = [*method.weights.values(), *method.heads.values(), *more]
    for value in trained:
        value.requires_grad_()
    descent: torch.optim.Optimizer = (
        torch.optim.Adam(trained, lr=rate, foreach=True)
        if optimiser == "adam"
        else torch.optim.SGD(trained, lr=rate, momentum=0.9, foreach=True)
    )
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(descent, steps)
    for _ in range(steps):
        descent.zero_grad(set_to_none=True)
        loss(*next(batches)).sum().backward()  # type: ignore[no-untyped-call]
        if decay is not None:
            with torch.no_grad():
                shrink = 1 - descent.param_groups[0]["lr"] * decay[:, None, None]
                for value in method.weights.values():
                    value *= shrink
        descent.step()
        schedule.step()
        method.after()
    for value in trained:
        value.requires_grad_(False)
