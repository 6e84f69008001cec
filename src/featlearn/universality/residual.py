"""Residual networks as bodies of the contrastive methods, many at once.

Pictures come as rows of grey pixels and go in as three equal channels.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call, stack_module_state, vmap

from featlearn.core.seeds import Streams, seeded
from featlearn.images.encoders import build_encoder
from featlearn.universality.methods import Weights, layer

#: Pictures that go through a network together: maps of more would not fit into a cache.
AT_ONCE = 512


class _Features(nn.Module):
    def __init__(self, settings: Mapping[str, Any], side: int, features: str):
        super().__init__()
        self.encoder, self.side = build_encoder(settings, side), side
        self.whole = features == "map"
        self.width = self.encoder.width * (prod(self.encoder.grid(side)) if self.whole else 1)

    def forward(self, x: Tensor) -> Tensor:
        """Features (n, width) of pictures (n, side^2)."""
        images = x.reshape(-1, 1, self.side, self.side).expand(-1, 3, -1, -1)
        return self.encoder.feature_map(images).flatten(1) if self.whole else self.encoder(images)


class Residual:
    """A body of :mod:`featlearn.universality.methods`, whose weights a network each has.

    ``settings``: as for :func:`featlearn.images.encoders.build_encoder`, without batch norms.
    ``side``: pixels of a view. ``features``: ``map``, all cells of the last map, or ``mean``.
    """

    def __init__(self, settings: Mapping[str, Any], side: int, features: str):
        self.settings, self.side, self.features = settings, side, features
        with torch.device("meta"):
            self.net = _Features(settings, side, features)

    def start(self, out: int, streams: Streams) -> Weights:
        """Networks (R, ...) at their start, with a last layer to ``out`` features."""
        nets = []
        for replicate in streams.replicates:
            with seeded(streams.seed, streams.paper, streams.experiment, replicate, "residual"):
                nets.append(_Features(self.settings, self.side, self.features))
        stacked = stack_module_state(nets)[0]
        weights = {key: value.detach() for key, value in stacked.items()}
        weights["last"] = layer(out, self.net.width, streams("residual-last"))
        weights["offset"] = torch.zeros(len(nets), 1, out)
        return weights

    def __call__(self, weights: Mapping[str, Tensor], x: Tensor) -> Tensor:
        """Features (P, n, width) of views (P, n, side^2)."""
        own = {key: weights[key] for key, _ in self.net.named_parameters()}

        def one(state: Weights, views: Tensor) -> Any:
            return functional_call(self.net, state, (views,))

        return torch.cat([vmap(one)(own, part) for part in torch.split(x, AT_ONCE, 1)], 1)
