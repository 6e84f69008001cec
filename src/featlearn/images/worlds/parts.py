"""The alphabet of parts: shapes filled with textures, drawn with soft edges.

A part is drawn within the unit disc (x right, y down), so that it is the same at every size.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from featlearn.core.seeds import generator

Shape = Callable[[Tensor, Tensor], Tensor]


def _radius(x: Tensor, y: Tensor) -> Tensor:
    return torch.sqrt(x * x + y * y)


def _polygon(corners: Sequence[tuple[float, float]]) -> Shape:
    """Inside of a closed line, by the parity of its crossings to the right of a point."""

    def inside(x: Tensor, y: Tensor) -> Tensor:
        odd = torch.zeros_like(x, dtype=torch.bool)
        for (x0, y0), (x1, y1) in zip(corners, [*corners[1:], corners[0]], strict=True):
            if y0 != y1:
                crosses = (y < y0) != (y < y1)
                odd ^= crosses & (x < x0 + (y - y0) * ((x1 - x0) / (y1 - y0)))
        return odd

    return inside


def _spikes(count: int, outer: float, inner: float) -> list[tuple[float, float]]:
    """Corners of a star with ``count`` points, the first at the top."""
    turns = [math.pi * i / count for i in range(2 * count)]
    reach = [outer, inner] * count
    return [(r * math.sin(t), -r * math.cos(t)) for r, t in zip(reach, turns, strict=True)]


def _ring(x: Tensor, y: Tensor) -> Tensor:
    r = _radius(x, y)
    return (r < 0.98) & (r > 0.5)


def _cross(x: Tensor, y: Tensor) -> Tensor:
    ends = torch.maximum(x.abs(), y.abs()) < 0.92
    return (torch.minimum(x.abs(), y.abs()) < 0.3) & ends


def _heart(x: Tensor, y: Tensor) -> Tensor:
    lobes = _radius(x.abs() - 0.42, y + 0.34) < 0.49
    tip = (x.abs() * 0.86 + (y - 0.9) * 0.72 < 0) & (y > -0.25) & (x.abs() < 0.91)
    return lobes | tip


def _wheel(x: Tensor, y: Tensor) -> Tensor:
    r = _radius(x, y)
    spokes = torch.stack(
        [(x * math.cos(t) + y * math.sin(t)).abs() for t in (0, math.pi / 3, 2 * math.pi / 3)]
    ).amin(0)
    return (r < 0.98) & ((r > 0.7) | (spokes < 0.1) | (r < 0.24))


def _leaf(x: Tensor, y: Tensor) -> Tensor:
    blade = (_radius(x - 0.4, y) < 1.04) & (_radius(x + 0.4, y) < 1.04)
    return blade & ((x.abs() > 0.07) | (y < -0.3))


def _drop(x: Tensor, y: Tensor) -> Tensor:
    belly = _radius(x, y - 0.3) < 0.67
    return belly | ((x.abs() < 0.56 * (y + 0.97)) & (y < 0) & (y > -0.97))


def _flower(x: Tensor, y: Tensor) -> Tensor:
    r, turn = _radius(x, y), torch.atan2(x, -y)
    return (r < 0.66 + 0.31 * torch.cos(5 * turn)) & (r > 0.17)


def _gear(x: Tensor, y: Tensor) -> Tensor:
    r, turn = _radius(x, y), torch.atan2(x, -y)
    return (r < torch.where(torch.cos(8 * turn) > 0, 0.97, 0.72)) & (r > 0.32)


def _fish(x: Tensor, y: Tensor) -> Tensor:
    body = ((x + 0.24) / 0.73) ** 2 + (y / 0.62) ** 2 < 1
    tail = (y.abs() < 0.9 * (x - 0.14)) & (x < 0.8)
    return (body | tail) & (_radius(x + 0.55, y + 0.16) > 0.13)


_ARROW = ((0, -0.97), (0.78, -0.1), (0.3, -0.1), (0.3, 0.93), (-0.3, 0.93), (-0.3, -0.1),
          (-0.78, -0.1))  # fmt: skip
_HOUSE = ((0, -0.97), (0.92, -0.1), (0.64, -0.1), (0.64, 0.74), (0.2, 0.74), (0.2, 0.2),
          (-0.2, 0.2), (-0.2, 0.74), (-0.64, 0.74), (-0.64, -0.1), (-0.92, -0.1))  # fmt: skip
_BOLT = ((0.42, -0.9), (-0.28, -0.9), (-0.62, 0.16), (-0.14, 0.16), (-0.36, 0.92), (0.66, -0.22),
         (0.14, -0.22))  # fmt: skip

SHAPES: dict[str, Shape] = {
    "disc": lambda x, y: _radius(x, y) < 0.97,
    "ring": _ring,
    "square": lambda x, y: torch.maximum(x.abs(), y.abs()) < 0.7,
    "lozenge": lambda x, y: x.abs() * 1.55 + y.abs() < 0.98,
    "triangle": _polygon(((0, -0.95), (0.86, 0.5), (-0.86, 0.5))),
    "cross": _cross,
    "saltire": lambda x, y: _cross((x + y) * math.sqrt(0.5), (x - y) * math.sqrt(0.5)),
    "star": _polygon(_spikes(5, 0.98, 0.42)),
    "heart": _heart,
    "crescent": lambda x, y: (_radius(x, y) < 0.97) & (_radius(x - 0.42, y + 0.16) > 0.72),
    "wheel": _wheel,
    "arrow": _polygon(_ARROW),
    "leaf": _leaf,
    "drop": _drop,
    "flower": _flower,
    "gear": _gear,
    "house": _polygon(_HOUSE),
    "bolt": _polygon(_BOLT),
    "hourglass": lambda x, y: (x.abs() < 0.1 + 0.72 * y.abs()) & (y.abs() < 0.76),
    "fish": _fish,
}


_PERIOD = 0.78  # of the unit disc: four pixels of a part of ten


def _wave(t: Tensor) -> Tensor:
    """0 or 1 in turn, half a period each; 0 in the middle."""
    return ((t / _PERIOD + 0.25) % 1 >= 0.5).float()


def _spots(x: Tensor, y: Tensor) -> Tensor:
    pitch = 0.72
    off = [(t / pitch + 0.5) % 1 - 0.5 for t in (x, y)]
    return (_radius(*off) < 0.31).float()


#: How much of the second colour a point has, 0 to 1.
TEXTURES: dict[str, Shape] = {
    "plain": lambda x, y: torch.zeros_like(x),
    "shaded": lambda x, y: (y + 1).clamp(0, 2) / 2,
    "striped": lambda x, y: _wave(x),
    "banded": lambda x, y: _wave(y),
    "slanted": lambda x, y: _wave((x + y) * math.sqrt(0.5)),
    "chequered": lambda x, y: (_wave(x + _PERIOD / 4) != _wave(y + _PERIOD / 4)).float(),
    "dotted": _spots,
    "ringed": lambda x, y: _wave(_radius(x, y)),
}

#: Shapes of thin lines or points, and the textures that do not hide them at ten pixels.
_THIN = ("ring", "crescent", "wheel", "arrow", "bolt", "lozenge")
_COARSE = ("plain", "shaded")
#: Textures that a kind of part does not have: grey parts differ in texture.
_NEEDLESS: dict[str, tuple[str, ...]] = {"both": (), "texture": ("plain",)}


#: First colour, and the second one that stands out from it in hue and in lightness.
COLOURS: dict[str, tuple[str, str]] = {
    "red": ("#E02020", "#FFE9A8"),
    "orange": ("#FF8C00", "#3B1E6D"),
    "yellow": ("#FFE119", "#1F4E8C"),
    "green": ("#1FA52E", "#F4FFD0"),
    "lime": ("#B4F02C", "#7A1F5C"),
    "cyan": ("#22D3EE", "#7C2D12"),
    "blue": ("#1F47D8", "#FFD23F"),
    "violet": ("#8B2FC9", "#C9F7F5"),
    "pink": ("#FF5FB0", "#0F5132"),
    "brown": ("#6B3A12", "#FFD9B0"),
}
_GREYS = (("#F5F5F5", "#0A0A0A"), ("#0A0A0A", "#F5F5F5"))


def _rgb(colour: str) -> tuple[float, float, float]:
    red, green, blue = bytes.fromhex(colour[1:])
    return red / 255, green / 255, blue / 255


def _darker(colour: str) -> str:
    return "#" + "".join(f"{round(255 * 0.55 * value):02X}" for value in _rgb(colour))


@dataclass(frozen=True)
class Part:
    """What a part looks like: a shape, a texture and two colours (``#RRGGBB``)."""

    name: str
    shape: str
    texture: str
    colours: tuple[str, str]

    def inside(self, x: Tensor, y: Tensor) -> Tensor:
        """Bool: whether points are inside, in coordinates in which the part fits the unit disc."""
        return SHAPES[self.shape](x, y)

    def share(self, x: Tensor, y: Tensor) -> Tensor:
        """How much of the second colour points have, 0 to 1."""
        return TEXTURES[self.texture](x, y)


def alphabet(count: int, kinds: Sequence[str], seed: int = 0) -> list[Part]:
    """The first ``count`` parts of the alphabet called ``seed``: all different.

    ``kinds``: part ``p`` has the kind ``kinds[p % len(kinds)]`` (``both``, ``colour`` or
    ``texture``). ``seed``: orders shapes, textures and colours. Part ``p`` does not depend on
    ``count``, at most ``featlearn.images.config.MOST_PARTS``.
    """

    def ordered(what: str, names: Mapping[str, Any]) -> list[str]:
        stream = generator("images", "alphabet", seed, what)
        return [list(names)[i] for i in torch.randperm(len(names), generator=stream).tolist()]

    shapes, hues = ordered("shape", SHAPES), ordered("colour", COLOURS)
    textures = ordered("texture", TEXTURES)
    return [_part(p, kinds[p % len(kinds)], shapes, hues, textures) for p in range(count)]


def _part(number: int, kind: str, shapes: list[str], hues: list[str], textures: list[str]) -> Part:
    """Each round through the shapes moves colours and textures on, so that no look repeats."""
    turn, at = divmod(number, len(shapes))
    shape = shapes[at]
    # the second ten shapes have the colours in another order: classes do not share both
    hue = hues[(at + at // len(hues) * 3 + turn) % len(hues)]
    first = COLOURS[hue][0]
    if kind == "colour":
        return Part(f"{hue} {shape}", shape, "shaded", (first, _darker(first)))
    allowed = [texture for texture in textures if texture not in _NEEDLESS[kind]]
    if kind == "both" and shape in _THIN:
        allowed = [texture for texture in allowed if texture in _COARSE]
    texture = allowed[(at + turn) % len(allowed)]
    if kind == "texture":
        colours = _GREYS[at % 2]
        return Part(f"grey {texture} {shape}", shape, texture, colours)
    colours = (first, _darker(first)) if texture == "shaded" else COLOURS[hue]
    return Part(f"{hue} {texture} {shape}", shape, texture, colours)


@dataclass(frozen=True)
class Stamps:
    """Parts as small pictures, in all their variants, each in the top left corner of its square.

    ``pixels`` (parts, variants, T, T, 4): RGB times coverage, and coverage, from 0 to 1. ``size``
    (parts, variants, 2) int64: height and width of what is not empty. ``box`` (parts, variants, 4)
    int64: ``x0, y0, x1, y1`` (half-open) of the pixels that are covered by half. ``centre`` (parts,
    variants, 2): row and column of the middle of the disc.
    """

    pixels: Tensor
    size: Tensor
    box: Tensor
    centre: Tensor

    @classmethod
    def of(cls, pixels: Tensor) -> Stamps:
        """Stamps from pictures in the middle of their squares, ``(parts, variants, T, T, 4)``."""
        coverage = pixels[..., 3]
        x0, y0, x1, y1 = tight_boxes(coverage > 0).unbind(-1)
        side = torch.arange(coverage.shape[-1])
        rows = (side + y0.unsqueeze(-1)) % len(side)
        columns = (side + x0.unsqueeze(-1)) % len(side)
        wide = (*pixels.shape[:2], len(side), len(side), 4)
        moved = pixels.gather(2, rows[..., None, None].expand(wide))
        moved = moved.gather(3, columns[..., None, :, None].expand(wide)).contiguous()
        size = torch.stack([y1 - y0, x1 - x0], -1)
        centre = len(side) / 2 - torch.stack([y0, x0], -1)
        return cls(moved, size, tight_boxes(moved[..., 3] >= 0.5), centre)


def tight_boxes(masks: Tensor) -> Tensor:
    """Half-open boxes (..., 4) int64 around masks (..., H, W); all -1 around an empty one."""
    ends = []
    for axis in (-2, -1):  # whether a column, then a row, holds anything
        line = masks.any(axis).to(torch.int8)
        first = line.argmax(-1)
        last = line.shape[-1] - line.flip(-1).argmax(-1)
        ends.append((first, last))
    (x0, x1), (y0, y1) = ends
    boxes = torch.stack([x0, y0, x1, y1], -1)
    return boxes.masked_fill(~masks.any(-1).any(-1, keepdim=True), -1)


def jitter(variants: int, rotation: float, scaling: float) -> tuple[Tensor, Tensor]:
    """Angles in radians and scales of the variants, both spread evenly and unrelated.

    Scales follow the multiples of the golden ratio. A single variant is upright and of scale 1.
    """
    if variants == 1:
        return torch.zeros(1), torch.ones(1)
    turn = (torch.arange(variants) + 0.5) / variants * 2 - 1
    stretch = (torch.arange(variants) * ((math.sqrt(5) - 1) / 2) + 0.5) % 1 * 2 - 1
    return turn * math.radians(rotation), 1 + stretch * scaling


def draw_stamps(
    parts: Sequence[Part], diameters: Sequence[float], side: int, angles: Tensor, scales: Tensor
) -> Stamps:
    """Draw every part at every angle and scale.

    ``diameters``: of each part in pixels, before scaling. ``side``: T of the stamps in pixels.
    ``angles``, ``scales`` (variants,): rotation in radians, and factor on the diameter.
    """
    fine = max(3, math.ceil(48 / side))  # points a pixel and axis: edges in ten grey levels or more
    steps = (torch.arange(side * fine) + 0.5) / fine - side / 2
    across, down = torch.meshgrid(steps, steps, indexing="xy")
    cos, sin = (f(angles).view(-1, 1, 1) for f in (torch.cos, torch.sin))
    turned_x, turned_y = cos * across + sin * down, cos * down - sin * across
    drawn = []
    for part, diameter in zip(parts, diameters, strict=True):
        radius = (scales * diameter / 2).view(-1, 1, 1)
        x, y = turned_x / radius, turned_y / radius
        inside = part.inside(x, y).float()
        whole, second = (points.view(len(angles), side, fine, side, fine).mean((2, 4)).unsqueeze(-1)
                         for points in (inside, inside * part.share(x, y)))  # fmt: skip
        colours = [torch.tensor(_rgb(colour)) for colour in part.colours]
        paint = (whole - second) * colours[0] + second * colours[1]
        drawn.append(torch.cat([paint, whole], -1))
    return Stamps.of(torch.stack(drawn))
