"""Pasting stamps on pictures: many stamps on many pictures in one go."""

from __future__ import annotations

import torch
from torch import Tensor


def stamp_index(
    coverage: Tensor, places: Tensor, canvas: Tensor, size: int
) -> tuple[Tensor, tuple[Tensor, ...]]:
    """Where the pixels of stamps go on a row of canvases of ``size`` x ``size`` pixels.

    Parameters
    ----------
    coverage : (K, T, T)
        Empty pixels, with a coverage of 0, go nowhere.
    places : (K, 2) int64
        Row and column of the top left corner.
    canvas : (K,) int64
        Number of the canvas.
    size
        Side of a canvas.

    Returns
    -------
    at : (pixels,) int64
        Flat index into ``(canvases, size, size)``.
    pixels : tuple of int64
        Which pixels of the stamps these are.
    """
    pixels = (coverage > 0).nonzero(as_tuple=True)
    stamp, down, across = pixels
    corner = (canvas * size + places[:, 0]) * size + places[:, 1]
    return corner[stamp] + down * size + across, pixels


def paste(
    pictures: Tensor, stamps: Tensor, strengths: Tensor, places: Tensor, picture: Tensor
) -> Tensor:
    """Lay stamps over pictures.

    Parameters
    ----------
    pictures : (n, 3, S, S)
        What is behind.
    stamps : (K, T, T, 4)
        RGB times coverage, and coverage. Those of one picture do not overlap.
    strengths : (K,)
        Opacity: 1 hides what is behind.
    places : (K, 2) int64
        Row and column of each stamp's top left corner.
    picture : (K,) int64
        On which picture.

    Returns
    -------
    Tensor
        ``(n, 3, S, S)``; ``pictures`` itself stays as it is.
    """
    n, _, size, _ = pictures.shape
    at, pixels = stamp_index(stamps[..., 3], places, picture, size)
    canvas = torch.zeros(n * size * size, 4)
    canvas[at] = stamps[pixels] * strengths[pixels[0], None]
    paint = canvas.view(n, size, size, 4).permute(0, 3, 1, 2)
    return pictures * (1 - paint[:, 3:]) + paint[:, :3]


def as_bytes(pictures: Tensor) -> Tensor:
    """Pictures in ``[0, 1]`` as uint8, what is outside cut off; changes ``pictures``."""
    return pictures.mul_(255).round_().clamp_(0, 255).to(torch.uint8)
