"""MoCo (He et al. 2020; version 2: Chen et al. 2020): negatives from a queue of earlier keys."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from featlearn.core.errors import ConfigError
from featlearn.images.augment import Augment
from featlearn.images.encoders.base import Encoder
from featlearn.images.methods.data2vec import follow
from featlearn.images.methods.queue import Queue
from featlearn.images.methods.two_view import ProjectionHead, TwoViewObjective

#: What stands between encoder and loss.
HEADS = ("none", "linear", "mlp")


class MoCo(TwoViewObjective):
    """A view's query is to find the key of the other view among the keys of earlier batches.

    With unit queries ``q`` and unit keys ``k`` of a moving average of the network, the loss is
    ``-log(exp(q k+ / tau) / (exp(q k+ / tau) + sum_j exp(q k_j / tau)))``, ``k_j`` over the queue.
    Both views are query and key in turn and their losses are added, as in the public code for
    CIFAR; both batches of keys then enter the queue. Without momentum and queue this would be
    InfoNCE within the batch.

    One process: batch norms are not shuffled between GPUs, and a queue is not shared.

    Parameters
    ----------
    encoder, augment
        See :class:`TwoViewObjective`.
    head
        ``mlp`` (MoCo v2), ``linear`` (MoCo), or ``none``: the encoder's features are compared.
    projection
        Options of :class:`ProjectionHead` for ``mlp``; its ``width`` also for ``linear``.
    temperature
        ``tau``.
    momentum
        Of the moving average.
    queue
        How many keys it holds.
    """

    def __init__(
        self,
        encoder: Encoder,
        augment: Augment,
        head: str = "mlp",
        projection: Mapping[str, Any] | None = None,
        temperature: float = 0.1,
        momentum: float = 0.99,
        queue: int = 4096,
    ):
        if head not in HEADS:
            raise ConfigError(f"pretraining.head: {head!r}; expected one of {', '.join(HEADS)}")
        if temperature <= 0:
            raise ConfigError(f"pretraining.temperature: {temperature}; expected more than 0")
        if not 0 <= momentum <= 1:
            raise ConfigError(f"pretraining.momentum: {momentum}; expected a number from 0 to 1")
        options = {"batch_norm": False, **(projection or {})}
        if head == "none":
            made: nn.Module = nn.Identity()
            width = encoder.width
        else:
            layers = {"layers": 1} if head == "linear" else {}
            made = ProjectionHead(encoder.width, **options | layers)
            width = made.width
        super().__init__(encoder, augment, made)
        self.temperature, self.momentum = temperature, momentum
        self.target = copy.deepcopy(nn.Sequential(encoder, made)).requires_grad_(False)
        self.queue = Queue(queue, width)
        self._fresh: list[Tensor] = []

    def judged(
        self, features: tuple[Tensor, Tensor], views: tuple[Tensor, Tensor]
    ) -> dict[str, Tensor]:
        """``loss``, and ``retrieval``: the share of queries whose key is nearer than the queue."""
        queries = [functional.normalize(self.projection(h).float(), dim=1) for h in features]
        with torch.no_grad():
            keys = [functional.normalize(self.target(view).float(), dim=1) for view in views]
        found = [self.contrast(queries[0], keys[1]), self.contrast(queries[1], keys[0])]
        if self.training:
            self._fresh += keys
        return {
            "loss": found[0][0] + found[1][0],
            "retrieval": (found[0][1] + found[1][1]) / 2,
        }

    def contrast(self, queries: Tensor, keys: Tensor) -> tuple[Tensor, Tensor]:
        """Mean loss of unit queries (B, D) with their unit keys, and the share that finds them."""
        positive = (queries * keys).sum(1, keepdim=True)
        logits = torch.cat([positive, queries @ self.queue.rows.T], 1) / self.temperature
        first = torch.zeros(len(queries), dtype=torch.int64, device=queries.device)
        with torch.no_grad():
            found = (logits.argmax(1) == 0).float().mean()
        return functional.cross_entropy(logits, first), found

    def after_step(self, step: int, steps: int) -> None:
        """Put the keys of the step into the queue and move the target towards the network."""
        for keys in self._fresh:
            self.queue.put(keys)
        self._fresh.clear()
        own = [*self.encoder.parameters(), *self.projection.parameters()]
        follow(self.target.parameters(), own, self.momentum)
