"""Two views against vectors of earlier batches: MoCo and NNCLR."""

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
from featlearn.images.methods.simclr import nt_xent, retrieval
from featlearn.images.methods.teachers import follow
from featlearn.images.methods.two_view import ProjectionHead, TwoViewObjective


class Queue(nn.Module):
    """The last ``size`` vectors that were put in; the oldest goes first. Part of the state dict.

    It starts with random unit vectors of torch's global generator. ``rows`` (size, width): unit
    vectors, in no particular order.
    """

    rows: Tensor
    place: Tensor

    def __init__(self, size: int, width: int):
        super().__init__()
        if size < 1:
            raise ConfigError(f"pretraining.queue: {size}; expected at least 1")
        self.register_buffer("rows", functional.normalize(torch.randn(size, width), dim=1))
        self.register_buffer("place", torch.zeros((), dtype=torch.int64))

    @torch.no_grad()
    def put(self, vectors: Tensor) -> None:
        """Replace the oldest rows by ``vectors`` (B, width), normalised: by the last that fit."""
        size = len(self.rows)
        fresh = functional.normalize(vectors.detach().float(), dim=1)[-size:]
        own = (self.place + torch.arange(len(fresh), device=self.rows.device)) % size
        self.rows[own] = fresh
        self.place.copy_((self.place + len(fresh)) % size)

    @torch.no_grad()
    def nearest(self, vectors: Tensor) -> Tensor:
        """Of each of ``vectors`` (B, width) the row of the largest cosine, (B, width)."""
        return self.rows[(vectors.float() @ self.rows.T).argmax(1)]


#: What stands between encoder and loss.
HEADS = ("none", "linear", "mlp")


class MoCo(TwoViewObjective):
    """A view's query is to find the key of the other view among the keys of earlier batches.

    With unit queries ``q`` and unit keys ``k`` of a moving average of the network, the loss is
    ``-log(exp(q k+ / tau) / (exp(q k+ / tau) + sum_j exp(q k_j / tau)))``, ``k_j`` over the queue.
    Both views are query and key in turn and their losses are added, as in the public code for
    CIFAR; both batches of keys then enter the queue. One process: batch norms are not shuffled
    between GPUs.

    ``encoder``, ``augment``: see :class:`TwoViewObjective`. ``head``: ``mlp`` (MoCo v2), ``linear``
    (MoCo), or ``none``. ``projection``: options of :class:`ProjectionHead` for ``mlp``; its
    ``width`` also for ``linear``. ``temperature``: ``tau``. ``momentum``: of the moving average.
    ``queue``: how many keys it holds.
    """

    def __init__(
        self, encoder: Encoder, augment: Augment, head: str = "mlp",
        projection: Mapping[str, Any] | None = None, temperature: float = 0.1,
        momentum: float = 0.99, queue: int = 4096,
    ):  # fmt: skip
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
        return {"loss": found[0][0] + found[1][0], "retrieval": (found[0][1] + found[1][1]) / 2}

    def contrast(self, queries: Tensor, keys: Tensor) -> tuple[Tensor, Tensor]:
        """Mean loss of unit queries (B, D) with their unit keys, and the share that finds them."""
        positive = (queries * keys).sum(1, keepdim=True)
        logits = torch.cat([positive, queries @ self.queue.rows.T], 1) / self.temperature
        first = torch.zeros(len(queries), dtype=torch.int64, device=queries.device)
        with torch.no_grad():
            found = (logits.argmax(1) == 0).float().mean()
        return functional.cross_entropy(logits, first), found

    def after_step(self, step: int, steps: int) -> None:
        for keys in self._fresh:
            self.queue.put(keys)
        self._fresh.clear()
        own = [*self.encoder.parameters(), *self.projection.parameters()]
        follow(self.target.parameters(), own, self.momentum)


class NNCLR(TwoViewObjective):
    """A view's prediction is to find the nearest neighbour of the other view's projection.

    With projections ``z``, predictions ``p = head(z)`` and ``nn(z)`` the nearest vector of the
    support set, the loss is the mean of NT-Xent between ``nn(z_1)`` and ``p_2`` and of that between
    ``nn(z_2)`` and ``p_1``, both anchors as in lightly. Neighbours are looked up before the
    projections of the second view enter the set.

    ``encoder``, ``augment``: see :class:`TwoViewObjective`. ``projection``: options of
    :class:`ProjectionHead`. ``head_hidden``: width of the prediction head's hidden layer.
    ``temperature``: of NT-Xent (paper: 0.1). ``support``: how many projections the set holds.
    """

    def __init__(
        self, encoder: Encoder, augment: Augment, projection: Mapping[str, Any] | None = None,
        head_hidden: int = 512, temperature: float = 0.1, support: int = 4096,
    ):  # fmt: skip
        if temperature <= 0:
            raise ConfigError(f"pretraining.temperature: {temperature}; expected more than 0")
        made = ProjectionHead(encoder.width, **(projection or {}))
        super().__init__(encoder, augment, made)
        self.head = ProjectionHead(made.width, head_hidden, made.width)
        self.support = Queue(support, made.width)
        self.temperature = temperature
        self._fresh: list[Tensor] = []

    def judged(
        self, features: tuple[Tensor, Tensor], views: tuple[Tensor, Tensor]
    ) -> dict[str, Tensor]:
        """``loss``; ``retrieval``: the share of neighbours whose prediction is the nearest."""
        z = [self.projection(h) for h in features]
        p = [self.head(own) for own in z]
        near = [self.support.nearest(own) for own in z]
        losses = [nt_xent([near[0], p[1]], self.temperature),
                  nt_xent([near[1], p[0]], self.temperature)]  # fmt: skip
        if self.training:
            self._fresh.append(z[1].detach())
        with torch.no_grad():
            found = retrieval(near[0], p[1])
        return {"loss": (losses[0] + losses[1]) / 2, "retrieval": found}

    def after_step(self, step: int, steps: int) -> None:
        for own in self._fresh:
            self.support.put(own)
        self._fresh.clear()
