"""Small grey pictures for ladders; a view lays one at a random place of a canvas, in noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import pi
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from featlearn.core.files import PathLike
from featlearn.core.seeds import derive_seed
from featlearn.images import pixel_operations as ops
from featlearn.images.data.datasets import in_random_order, open_classified
from featlearn.images.worlds.shapes import glyphs
from featlearn.universality.labelled import PARTS
from featlearn.universality.training import Views

#: Orientations of gratings, the classes of that set.
ORIENTATIONS = 8


class Pictures(NamedTuple):
    """One set: a rung of a ladder."""

    images: Tensor  #: (N, s, s) in [0, 1]
    classes: Tensor  #: (N,)
    groups: Tensor | None = None  #: (N,), of pictures that are not to be separated


class Sight(NamedTuple):
    """How a view is made."""

    room: int  #: pixels by which a picture can move, in either direction
    noise: float  #: standard deviation of a pixel's noise


def open_set(
    settings: Mapping[str, Any], cache: PathLike, count: int, side: int, name: tuple[object, ...],
    key: str,
) -> Pictures:  # fmt: skip
    """Pictures of a rung.

    ``settings``: ``data``, made grey, ``turned`` by a quarter; or ``made``, ``glyphs`` or
    ``gratings``, ``count`` of them with ``side`` pixels. ``name``: of the random stream.
    """
    random = torch.Generator().manual_seed(derive_seed(*name))
    if settings.get("data"):
        # one stream for all sets: a set that stands there twice, once turned, keeps its order
        stream = (*name[:-1], "split")
        found = open_classified({**settings["data"], "size": side}, cache, *stream, key=key)
        images = torch.cat([found.train.images, found.test.images]).float() / 255
        grey = ops.luma(images)[:, 0]
        labels = torch.cat([found.train.labels, found.test.labels])
        groups = None
        if found.train.groups is not None and found.test.groups is not None:
            groups = torch.cat([found.train.groups, found.test.groups + len(found.train.groups)])
        return Pictures(grey.rot90(1, (1, 2)) if settings.get("turned") else grey, labels, groups)
    if settings["made"] == "glyphs":
        drawn = glyphs()
        labels = torch.randint(len(drawn), (count,), generator=random)
        return Pictures(_sized(drawn[labels], side, random), labels)
    labels = torch.randint(ORIENTATIONS, (count,), generator=random)
    return Pictures(_gratings(labels, side, random), labels)


def _sized(images: Tensor, side: int, random: torch.Generator) -> Tensor:
    """Each picture at a width and a height of its own, (n, side, side)."""
    move = torch.zeros(len(images), 2, 3)
    move[:, 0, 0], move[:, 1, 1] = 1 / (0.6 + 0.4 * torch.rand(2, len(images), generator=random))
    grid = functional.affine_grid(move, [len(images), 1, side, side], align_corners=False)
    return functional.grid_sample(images[:, None], grid, align_corners=False)[:, 0]


def _gratings(labels: Tensor, side: int, random: torch.Generator) -> Tensor:
    """Waves of an orientation a class, of any phase and of two to three periods a picture."""
    angle = labels * pi / ORIENTATIONS
    place = torch.arange(side) / side
    along = torch.stack([angle.cos(), angle.sin()])[:, :, None, None]
    moved = along[0] * place[:, None] + along[1] * place
    phase, wide = torch.rand(2, len(labels), 1, 1, generator=random)
    return (1 + (2 * pi * ((2 + wide) * moved + phase)).sin()) / 2


def seen(images: Tensor, place: Tensor, noise: Tensor, room: int) -> Tensor:
    """Views (..., d) of pictures (..., s, s), d = (s + room)^2.

    ``place`` (..., 2): row and column of the corner, 0 to ``room``. ``noise`` (..., d).
    """
    side = images.shape[-1] + room
    wide = functional.pad(images.flatten(0, -3), (room,) * 4)
    start = room - place.flatten(0, -2)
    at = start[:, :, None] + torch.arange(side)  # (n, 2, side)
    every = torch.arange(len(wide))[:, None, None]
    laid = wide[every, at[:, 0, :, None], at[:, 1, None, :]]
    return laid.reshape(*images.shape[:-2], -1) + noise


def drawn(
    shape: tuple[int, ...], side: int, sight: Sight, random: Sequence[torch.Generator]
) -> tuple[Tensor, Tensor]:
    """Places (R, ..., 2) and noise (R, ..., d) of views."""
    width = (side + sight.room) ** 2
    places = [torch.randint(sight.room + 1, (*shape, 2), generator=own) for own in random]
    noise = [sight.noise * torch.randn(*shape, width, generator=own) for own in random]
    return torch.stack(places), torch.stack(noise)


def pairs(
    images: Tensor, pools: Sequence[Tensor], batch: int, sight: Sight,
    random: Sequence[torch.Generator],
) -> Views:  # fmt: skip
    """Two views from each span's ``pools``, rows (R, n) of ``images`` (N, s, s)."""
    while True:
        chosen = torch.stack([torch.rand(batch, generator=own) for own in random])
        rows = [pool.gather(1, (chosen * pool.shape[1]).long()) for pool in pools]
        views = []
        for _ in range(2):
            place, noise = drawn((batch,), images.shape[-1], sight, random)
            views.append(torch.cat([seen(images[own], place, noise, sight.room) for own in rows]))
        yield views[0], views[1]


def dealt(pictures: Pictures, samples: Mapping[str, int], random: Sequence[torch.Generator]
          ) -> dict[str, Tensor]:  # fmt: skip
    """Rows (R, n) of each part, in an order of each replicate's own; what is left is for testing.

    A set with fewer pictures gives each part its share.
    """
    count, groups = len(pictures.classes), pictures.groups
    # a part may end within a group
    lost = 0 if groups is None else 2 * int(groups.bincount().max())
    share = min(1.0, (count - lost) / sum(samples.values()))
    counts = [int(share * samples[part]) for part in PARTS]
    rows = zip(*(in_random_order(count, groups, counts, own) for own in random), strict=True)
    return {part: torch.stack(own) for part, own in zip(PARTS, rows, strict=True)}
