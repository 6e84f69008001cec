"""Shape-on-colour images: a colour that is the image's own, and a glyph that images share.

A stand-in for Wen and Li 2021: the base colour is dense and belongs to one sample alone, as their
noise ``xi``; the glyph is the sparse signal ``M z`` and the class.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from featlearn.core.seeds import generator

#: Side of the glyphs before they are resized.
CELLS = 12
#: The classes, in the order of their labels.
GLYPHS = (
    "vertical bar", "horizontal bar", "falling diagonal", "rising diagonal",
    "ring", "frame", "plus", "disc",
)  # fmt: skip


@dataclass(frozen=True)
class ShapeDials:
    """Settings of shape-on-colour images; values are in [0, 1], black to white.

    ``image_size``: side in pixels. ``darkest``, ``colour_span``: the base colour of a channel is
    ``darkest + colour_span * c``, ``c`` uniform in [0, 1] for each channel and sample.
    ``contrast``: what the glyph adds to all channels. ``glyph_size``: smallest and largest side of
    the glyph in pixels, both included. ``noise``: standard deviation of a pixel's channel.
    """

    image_size: int = 32
    darkest: float = 0.1
    colour_span: float = 0.5
    contrast: float = 0.35
    glyph_size: Sequence[int] = (10, 16)
    noise: float = 0.02


@dataclass(frozen=True)
class ShapePictures:
    """Images with all that they were made from.

    ``images`` (N, 3, S, S) uint8. ``labels`` (N,) int64: which of :data:`GLYPHS`. ``colour`` (N,
    3): ``c`` of the base colour. ``size`` (N,) int64: side of the glyph in pixels. ``corner`` (N,
    2) int64: row and column of its upper left corner.
    """

    images: Tensor
    labels: Tensor
    colour: Tensor
    size: Tensor
    corner: Tensor

    def __len__(self) -> int:
        return len(self.labels)


def glyphs() -> Tensor:
    """The eight glyphs, float32 ``(8, 12, 12)`` of 0 and 1, in the order of :data:`GLYPHS`."""
    place = torch.arange(CELLS)
    row, column = torch.meshgrid(place, place, indexing="ij")
    middle = (CELLS - 1) / 2
    radius = ((row - middle) ** 2 + (column - middle) ** 2).sqrt()
    upright, level = (column - middle).abs() < 2, (row - middle).abs() < 2
    edge = torch.minimum(torch.minimum(row, column), torch.minimum(row, column).flip(0, 1)) < 2
    drawn = [upright, level, (row - column).abs() < 2, (row + column - 2 * middle).abs() < 2,
             (radius > 3.6) & (radius < 6), edge, upright | level, radius < 5]  # fmt: skip
    return torch.stack(drawn).float()


def sample(dials: ShapeDials, count: int, name: tuple[object, ...]) -> ShapePictures:
    """``count`` images with independent latents, each of a random stream below ``name``."""

    def uniform(purpose: str, *shape: int) -> Tensor:
        return torch.rand(count, *shape, generator=generator(*name, purpose))

    def whole(purpose: str, below: int) -> Tensor:
        return torch.randint(below, (count,), generator=generator(*name, purpose))

    labels = whole("glyph", len(GLYPHS))
    smallest, largest = dials.glyph_size
    size = smallest + whole("size", largest - smallest + 1)
    room = (dials.image_size - size + 1)[:, None]
    corner = (uniform("corner", 2).double() * room).long()
    colour = uniform("colour", 3)
    side = dials.image_size
    ground = dials.darkest + dials.colour_span * colour
    values = ground[:, :, None, None].expand(-1, -1, side, side).clone()
    values += dials.contrast * masks(side, labels, size, corner)[:, None]
    values += dials.noise * torch.randn(values.shape, generator=generator(*name, "noise"))
    images = (values.clamp_(0, 1) * 255).round_().to(torch.uint8)
    return ShapePictures(images, labels, colour, size, corner)


def masks(image_size: int, labels: Tensor, size: Tensor, corner: Tensor) -> Tensor:
    """Where the glyph of each image is, and how strongly: float32 ``(N, S, S)`` in [0, 1].

    ``image_size``: s. ``labels``, ``size`` (N,) int64. ``corner`` (N, 2) int64.
    """
    found = torch.zeros(len(labels), image_size, image_size)
    for side in torch.unique(size).tolist():
        rows = (size == side).nonzero().squeeze(1)
        resized = functional.interpolate(
            glyphs()[:, None], (side, side), mode="bilinear", align_corners=False
        )[:, 0]
        line = torch.arange(side)
        down = corner[rows, 0, None, None] + line[:, None]
        across = corner[rows, 1, None, None] + line
        found[rows[:, None, None], down, across] = resized[labels[rows]]
    return found
