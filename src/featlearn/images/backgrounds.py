"""Structured backgrounds: smooth gradients, soft blobs, slow waves."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from featlearn.images.draws import Draws

_BLOBS = 3
_SHADE, _TINT = 0.75, 0.4  # of a colour: how much it shifts grey, how much it shifts hue


def backgrounds(draws: Draws, size: int, contrast: float, kinds: Sequence[str]) -> Tensor:
    """Backgrounds around mid-grey.

    Every term is a colour times a function of y times a function of x, so that an image is one
    small matrix product.

    Parameters
    ----------
    draws
        Random numbers, one set an image. A term has its own, whichever others there are.
    size
        Side S in pixels.
    contrast
        0 gives plain grey, 1 the strongest structure.
    kinds
        Any of ``gradient``, ``blobs``, ``waves``.

    Returns
    -------
    Tensor
        ``(images, 3, S, S)`` float32 in ``[0, 1]``.
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
