"""The operations of RandAugment, for the images of a batch that drew the same one.

The "increasing" set of the timm library (Apache-2.0), whose ranges are kept: a larger level always
changes more. Levels go from 0 to 10.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from featlearn.images import colour
from featlearn.images.resample import affine

MAX_LEVEL = 10
Operation = Callable[[Tensor, Tensor, Tensor, float], Tensor]


def change(
    name: str, level: Tensor, sign: Tensor, fill: float
) -> Callable[[Tensor, Tensor], Tensor]:
    """The operation ``name`` as a function of some images and of their rows.

    Parameters
    ----------
    level : (n,)
        0 to 10, one an image of the whole batch.
    sign : (n,)
        1 or -1.
    fill
        Value of what moves in from outside.
    """

    def changed(part: Tensor, rows: Tensor) -> Tensor:
        share = level[rows].to(part.device) / MAX_LEVEL
        return OPERATIONS[name](part, share, sign[rows].to(part.device), fill)

    return changed


def _enhance(change: Callable[[Tensor, Tensor], Tensor]) -> Operation:
    return lambda images, share, sign, _: change(images, (1 + 0.9 * share * sign).clamp(min=0.1))


def _matrix(images: Tensor) -> Tensor:
    """The identity for each image, ``(n, 2, 3)``."""
    return torch.eye(2, 3, device=images.device).repeat(len(images), 1, 1)


def _rotate(images: Tensor, share: Tensor, sign: Tensor, fill: float) -> Tensor:
    """Up to 30 degrees about the middle."""
    angle = torch.deg2rad(30 * share * sign)
    cos, sin, middle = angle.cos(), angle.sin(), images.shape[-1] / 2
    matrix = _matrix(images)
    matrix[:, 0, 0], matrix[:, 0, 1] = cos, sin
    matrix[:, 1, 0], matrix[:, 1, 1] = -sin, cos
    matrix[:, 0, 2] = middle * (1 - cos - sin)
    matrix[:, 1, 2] = middle * (1 - cos + sin)
    return affine(images, matrix, fill)


def _moved(row: int, column: int, reach: float) -> Operation:
    """Sets one entry of the matrix: a shear, or a shift by a share of the side (column 2)."""

    def move(images: Tensor, share: Tensor, sign: Tensor, fill: float) -> Tensor:
        matrix = _matrix(images)
        unit = images.shape[-1] if column == 2 else 1
        matrix[:, row, column] = reach * share * sign * unit
        return affine(images, matrix, fill)

    return move


OPERATIONS: dict[str, Operation] = {
    "autocontrast": lambda images, share, sign, fill: colour.autocontrast(images),
    "equalise": lambda images, share, sign, fill: colour.equalise(images),
    "invert": lambda images, share, sign, fill: colour.invert(images),
    "rotate": _rotate,
    "posterise": lambda images, share, sign, fill: colour.posterise(
        images, 4 - (share * 4).floor()
    ),
    "solarise": lambda images, share, sign, fill: colour.solarise(
        images, (256 - (share * 256).floor()) / 255
    ),
    "solarise_add": lambda images, share, sign, fill: colour.solarise_add(
        images, (share * 110).floor() / 255
    ),
    "saturation": _enhance(colour.saturation),
    "contrast": _enhance(colour.contrast),
    "brightness": _enhance(colour.brightness),
    "sharpness": _enhance(colour.sharpness),
    "shear_x": _moved(0, 1, 0.3),
    "shear_y": _moved(1, 0, 0.3),
    "translate_x": _moved(0, 2, 0.45),
    "translate_y": _moved(1, 2, 0.45),
}
