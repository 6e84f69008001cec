"""What methods that compare two views share: they get images as bytes and make both views."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from featlearn.core.errors import ConfigError
from featlearn.images.augment import Augment
from featlearn.images.encoders.base import Encoder
from featlearn.images.rng import Draws
from featlearn.images.train.objective import Objective


def untouched(images: Tensor, draws: Draws) -> Tensor:
    """The images as bytes: the loop's augmentation for objectives that make their own views."""
    return images


class ProjectionHead(nn.Sequential):
    """Fully connected layers with ReLU between them, ``(B, width_in)`` to ``(B, width)``.

    ``hidden``: width of all layers but the last. ``layers``: of linear ones: 2 in SimCLR (Chen et
    al. 2020) and BYOL, 3 in SimSiam. ``batch_norm``: normalise the hidden layers, before their
    ReLU. ``last_batch_norm``: normalise the result, without scale and shift (SimSiam has both).
    """

    def __init__(
        self, width_in: int, hidden: int = 512, width: int = 64, layers: int = 2,
        batch_norm: bool = True, last_batch_norm: bool = False,
    ):  # fmt: skip
        if layers < 1:
            raise ConfigError(f"projection.layers: {layers}; expected at least 1")
        parts: list[nn.Module] = []
        for before in [width_in, *[hidden] * (layers - 2)][: layers - 1]:
            # a norm takes the mean away: no bias before it
            parts.append(nn.Linear(before, hidden, bias=not batch_norm))
            parts += [nn.BatchNorm1d(hidden)] if batch_norm else []
            parts.append(nn.ReLU(inplace=True))
        parts.append(nn.Linear(hidden if layers > 1 else width_in, width, bias=not last_batch_norm))
        parts += [nn.BatchNorm1d(width, affine=False)] if last_batch_norm else []
        super().__init__(*parts)
        self.width = width


class TwoViewObjective(Objective):
    """A pre-training method that compares two views of the same images; labels are not used.

    Subclasses give :meth:`judged`, what they make of the encoder's features. :meth:`pair` is free
    of random numbers, so that it compiles as one graph. A method that changes the views, as
    adversarial training does, extends :meth:`views`.

    ``encoder``: is kept after the training. ``augment``: makes a view of a batch of bytes.
    ``projection``: between encoder and loss.
    """

    encoder: Encoder

    def __init__(self, encoder: Encoder, augment: Augment, projection: nn.Module):
        super().__init__()
        self.encoder, self.augment, self.projection = encoder, augment, projection

    def forward(self, images: Tensor, labels: Tensor | None, draws: Draws) -> dict[str, Tensor]:
        """What :meth:`pair` gives for two views of the images, uint8 (B, 3, S, S)."""
        return self.pair(*self.views(images, draws))

    def views(self, images: Tensor, draws: Draws) -> tuple[Tensor, Tensor]:
        """Two views of the images, each normalised, (B, 3, size, size)."""
        # as all augmentation in the loop: full precision, whatever the network computes in
        with torch.autocast(images.device.type, enabled=False):
            return self.augment.two_views(images, draws)

    def project(self, images: Tensor) -> Tensor:
        """Normalised images (B, 3, S, S) to what the loss compares, (B, width)."""
        return self.projection(self.encoder(images))

    def features(self, first: Tensor, second: Tensor) -> tuple[Tensor, Tensor]:
        """Features (B, encoder.width) of two views (B, 3, S, S); batch norms see one at a time."""
        return self.encoder(first), self.encoder(second)

    def judged(
        self, features: tuple[Tensor, Tensor], views: tuple[Tensor, Tensor]
    ) -> dict[str, Tensor]:
        """``loss`` and further scalars of the :meth:`features` of two views."""
        raise NotImplementedError(f"{type(self).__name__} has no loss")

    def pair(self, first: Tensor, second: Tensor) -> dict[str, Tensor]:
        """``loss`` and further scalars of two views (B, 3, S, S) of the same images."""
        return self.judged(self.features(first, second), (first, second))

    def compile(self, *args: Any, **kwargs: Any) -> None:
        self.pair = torch.compile(self.pair, *args, **kwargs)  # type: ignore[method-assign]
