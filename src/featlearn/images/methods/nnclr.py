"""NNCLR (Dwibedi et al. 2021): the positive is the nearest neighbour in a set of earlier images."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from featlearn.core.errors import ConfigError
from featlearn.images.augment import Augment
from featlearn.images.encoders.base import Encoder
from featlearn.images.methods.queue import Queue
from featlearn.images.methods.simclr import nt_xent, retrieval
from featlearn.images.methods.two_view import ProjectionHead, TwoViewObjective


class NNCLR(TwoViewObjective):
    """A view's prediction is to find the nearest neighbour of the other view's projection.

    With projections ``z``, predictions ``p = head(z)`` and ``nn(z)`` the vector of the support set
    that is nearest to ``z``, the loss is the mean of NT-Xent between ``nn(z_1)`` and ``p_2`` and of
    that between ``nn(z_2)`` and ``p_1``. NT-Xent is SimCLR's, as in lightly: both are anchors.
    Neighbours are looked up before the projections of the second view enter the set.

    Parameters
    ----------
    encoder, augment
        See :class:`TwoViewObjective`.
    projection
        Options of :class:`ProjectionHead`.
    head_hidden
        Width of the hidden layer of the prediction head.
    temperature
        Of NT-Xent; 0.1 in the paper.
    support
        How many projections the set holds.
    """

    def __init__(
        self,
        encoder: Encoder,
        augment: Augment,
        projection: Mapping[str, Any] | None = None,
        head_hidden: int = 512,
        temperature: float = 0.1,
        support: int = 4096,
    ):
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
        losses = [
            nt_xent([near[0], p[1]], self.temperature),
            nt_xent([near[1], p[0]], self.temperature),
        ]
        if self.training:
            self._fresh.append(z[1].detach())
        with torch.no_grad():
            found = retrieval(near[0], p[1])
        return {"loss": (losses[0] + losses[1]) / 2, "retrieval": found}

    def after_step(self, step: int, steps: int) -> None:
        """Put the projections of the step into the support set."""
        for own in self._fresh:
            self.support.put(own)
        self._fresh.clear()
