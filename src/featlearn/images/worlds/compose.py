"""What images are composed of: structured backgrounds, places without overlap, pasted stamps."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from featlearn.images.rng import Draws

_TRIES = 24


def scattered(
    draws: Draws, sizes: Tensor, present: Tensor, image_size: int
) -> tuple[Tensor, Tensor]:
    """Slot after slot at a random place that does not overlap the places before it.

    ``draws``: random numbers, one set an image. ``sizes`` (n, slots, 2) int64: height and width.
    ``present`` (n, slots) bool: which slots hold a part. ``image_size``: side of the images.
    Returns ``places`` (n, slots, 2) int64; ``placed`` (n, slots) bool.
    """
    n, slots, _ = sizes.shape
    chance = draws.uniform("place", slots, _TRIES, 2)
    tries = (chance * (image_size + 1 - sizes).unsqueeze(2)).long()  # (n, slots, tries, 2)
    places, placed, row = tries[:, :, 0].clone(), present.clone(), torch.arange(n)
    for slot in range(1, slots):
        free = torch.ones(n, _TRIES, dtype=torch.bool)
        for before in range(slot):
            apart = (tries[:, slot] >= (places[:, before] + sizes[:, before]).unsqueeze(1)) | (
                tries[:, slot] + sizes[:, slot].unsqueeze(1) <= places[:, before].unsqueeze(1)
            )
            free &= apart.any(-1) | ~placed[:, before, None]
        places[:, slot] = tries[row, slot, free.to(torch.int8).argmax(1)]
        placed[:, slot] &= free.any(1)
    return places, placed


def in_cells(
    cells: Tensor, sizes: Tensor, grid: int, image_size: int, shake: Tensor | None = None
) -> Tensor:
    """Places of parts in the cells of a grid, ``(n, slots, 2)`` int64.

    ``cells`` (n, slots) int64, row by row. ``sizes`` (n, slots, 2) int64: height and width.
    ``grid``: cells a side. ``image_size``: side of the images. ``shake`` (n, slots, 2): where
    within its cell a part is, in ``[0, 1)``; None: in the middle.
    """
    corner = torch.stack([cells // grid, cells % grid], -1) * image_size // grid
    slack = image_size // grid - sizes
    inner = slack // 2 if shake is None else (shake * (slack + 1)).long()
    return corner + inner


def shuffled_cells(draws: Draws, slots: int, grid: int) -> Tensor:
    """A different cell of a grid for each slot, at random: ``(n, slots)`` int64."""
    return draws.uniform("cells", grid * grid).argsort(1)[:, :slots]


_BLOBS = 3
_SHADE, _TINT = 0.75, 0.4  # of a colour: how much it shifts grey, how much it shifts hue


def backgrounds(draws: Draws, size: int, contrast: float, kinds: Sequence[str]) -> Tensor:
    """Backgrounds around mid-grey, ``(images, 3, S, S)`` float32 in ``[0, 1]``.

    ``draws``: random numbers, one set an image, of each term its own. ``size``: S in pixels.
    ``contrast``: from 0, plain grey, to 1. ``kinds``: any of ``gradient``, ``blobs``, ``waves``: a
    colour times a function of y times one of x.
    """
    place = (torch.arange(size) + 0.5) / size * 2 - 1  # -1 to 1, whatever the size
    flat = torch.ones(len(draws), 1, size)
    terms = [(flat, flat, _colour(draws, "background-base", 1) * 0.45)]
    made = {"gradient": _gradient, "blobs": _blobs, "waves": _waves}
    terms += [made[kind](draws, place) for kind in made if kind in kinds]
    down, across, colour = (torch.cat(group, 1) for group in zip(*terms, strict=True))
    # (n, 3 S, J) @ (n, J, S)
    left = (colour.transpose(1, 2).unsqueeze(2) * down.transpose(1, 2).unsqueeze(1)).flatten(1, 2)
    image = torch.bmm(left, across).view(len(draws), 3, size, size)
    return image.mul_(contrast * 0.36).add_(0.5).clamp_(0, 1)


_Term = tuple[Tensor, Tensor, Tensor]  # functions of y and x (n, J, S), colours (n, J, 3)


def _colour(draws: Draws, purpose: str, terms: int) -> Tensor:
    shade = draws.normal(f"{purpose}-shade", terms, 1)
    tint = draws.normal(f"{purpose}-tint", terms, 3)
    return shade * _SHADE + tint * _TINT


def _gradient(draws: Draws, place: Tensor) -> _Term:
    """A slope in a random direction."""
    turn = draws.uniform("background-slope", 1, 1) * (2 * math.pi)
    line, flat = place.expand(len(draws), 1, -1), torch.ones(len(draws), 1, len(place))
    down = torch.cat([line * torch.sin(turn), flat], 1)
    across = torch.cat([flat, line * torch.cos(turn)], 1)
    return down, across, _colour(draws, "background-gradient", 1).expand(-1, 2, -1) * 0.6


def _blobs(draws: Draws, place: Tensor) -> _Term:
    """Soft spots, a quarter to a half of the image wide."""
    centre = draws.uniform("background-centre", _BLOBS, 2) * 2.4 - 1.2
    width = draws.uniform("background-width", _BLOBS, 2) * 0.35 + 0.25
    bell = torch.exp(-0.5 * ((place - centre.unsqueeze(-1)) / width.unsqueeze(-1)) ** 2)
    return bell[:, :, 0], bell[:, :, 1], _colour(draws, "background-blobs", _BLOBS) * 0.8


def _waves(draws: Draws, place: Tensor) -> _Term:
    """Two to four waves across the image: cos(a + b) = cos a cos b - sin a sin b."""
    turn = draws.uniform("background-direction", 1, 1) * math.pi
    speed = math.pi * (2 + 2 * draws.uniform("background-frequency", 1, 1))
    phase = draws.uniform("background-phase", 1, 1) * (2 * math.pi)
    a = speed * torch.cos(turn) * place + phase
    b = speed * torch.sin(turn) * place
    down = torch.cat([torch.cos(b), -torch.sin(b)], 1)
    across = torch.cat([torch.cos(a), torch.sin(a)], 1)
    return down, across, _colour(draws, "background-waves", 1).expand(-1, 2, -1) * 0.24


def stamp_index(
    coverage: Tensor, places: Tensor, canvas: Tensor, size: int
) -> tuple[Tensor, tuple[Tensor, ...]]:
    """Where the pixels of stamps go on a row of canvases of ``size`` x ``size`` pixels.

    ``coverage`` (K, T, T): pixels with 0 go nowhere. ``places`` (K, 2) int64: row and column of the
    top left corner. ``canvas`` (K,) int64: its number. Returns ``at`` int64: flat index into
    ``(canvases, size, size)``; ``pixels``: tuple of int64, which pixels of the stamps these are.
    """
    pixels = (coverage > 0).nonzero(as_tuple=True)
    stamp, down, across = pixels
    corner = (canvas * size + places[:, 0]) * size + places[:, 1]
    return corner[stamp] + down * size + across, pixels


def paste(
    pictures: Tensor, stamps: Tensor, strengths: Tensor, places: Tensor, picture: Tensor
) -> Tensor:
    """Lay stamps over pictures (n, 3, S, S); these stay as they are.

    ``stamps`` (K, T, T, 4): RGB times coverage, and coverage; those of one picture do not overlap.
    ``strengths`` (K,): opacity. ``places`` (K, 2) int64: row and column of the top left corner.
    ``picture`` (K,) int64: which one. Returns ``(n, 3, S, S)``.
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
