"""Scenes of several part-composed objects, with a box around each, for detection.

An object is a plain body on which the parts of its class sit side by side; loose parts of any class
lie around: a part alone is no object.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from featlearn.core.errors import ConfigError
from featlearn.images.config import PART_SHARE, SceneDials, group_shape, scene_faults
from featlearn.images.rng import Draws
from featlearn.images.worlds.compose import as_bytes, backgrounds, paste, scattered
from featlearn.images.worlds.parts import Part, draw_stamps, jitter
from featlearn.images.worlds.world import BLOCK, World, between, blocks

_ROUNDNESS = (0.25, 0.6, 1.0)  # of the corners of the bodies; at 1 they hug a part's disc


@dataclass(frozen=True)
class _Body(Part):
    """A white rectangle with round corners, sides and radius as shares of its half diagonal."""

    half_width: float
    half_height: float
    radius: float

    def inside(self, x: Tensor, y: Tensor) -> Tensor:
        radius = self.radius
        over_x = (x.abs() - (self.half_width - radius)).clamp(min=0)
        over_y = (y.abs() - (self.half_height - radius)).clamp(min=0)
        return over_x**2 + over_y**2 <= radius**2


@dataclass(frozen=True)
class ScenePictures:
    """N images of S x S pixels with up to M objects each.

    ``images`` (N, 3, S, S) uint8. ``boxes`` (N, M, 4) float32: ``x0, y0, x1, y1`` in pixels,
    half-open, around body and parts; -1 for no object. ``labels`` (N, M) int64: class; -1 for none.
    ``view`` (N, M) int64: which part of its class a single-view object shows; else -1.
    """

    images: Tensor
    boxes: Tensor
    labels: Tensor
    view: Tensor

    def __len__(self) -> int:
        return len(self.labels)


class Scenes:
    """Scenes of objects of the classes of a world.

    ``world``: gives classes, looks of parts, strengths, rotation, background and noise.
    ``settings``: as in :class:`~featlearn.images.config.SceneDials`. Raises ConfigError, naming
    every key that contradicts another.
    """

    def __init__(self, world: World, settings: Mapping[str, Any]):
        self.world, views = world, world.dials.parts_per_class
        found = list(scene_faults(settings, "scenes", views))
        if found:
            raise ConfigError("\n".join(found))
        self.dials = dials = SceneDials(**settings)
        small, large = dials.lengths
        length, spread = (small + large) / 2, (large - small) / (large + small)
        angles, scales = jitter(world.dials.variants, world.dials.rotation, spread)
        half_width, half_height = dials.body_corner(views)
        rows, columns = group_shape(views)
        bodies = [
            _Body("body", "body", "plain", ("#FFFFFF", "#FFFFFF"), half_width, half_height, one)
            for one in (half_width / columns * share for share in _ROUNDNESS)
        ]
        side = dials.stamp(views)
        self.bodies = draw_stamps(bodies, [length / half_width] * len(bodies), side, angles, scales)
        diameter = PART_SHARE * length / columns
        home = torch.arange(world.dials.parts) % views
        shrunk = [world.dials.of_view(world.dials.part_scales, int(view)) for view in home]
        self.stamps = draw_stamps(world.parts, [diameter * scale for scale in shrunk],
                                  math.ceil(round(diameter * max(shrunk) * float(scales.max()), 6)),
                                  angles, scales)  # fmt: skip
        self._seats = _seats(views, rows, columns, angles, scales * length / columns)

    def sample(self, count: int, name: tuple[object, ...], *, start: int = 0) -> ScenePictures:
        """Draw ``count`` scenes of the stream called ``name``, from number ``start`` on."""
        size, most = self.dials.image_size, self.dials.objects[1]
        number = torch.arange(start, start + count)
        images = torch.empty(count, 3, size, size, dtype=torch.uint8)
        boxes = torch.empty(count, most, 4)
        labels, view = (torch.empty(count, most, dtype=torch.long) for _ in range(2))
        for block, rows in blocks(number):
            own = number[rows] - block * BLOCK
            drawn = self._block(Draws(name, block, BLOCK))
            images[rows], boxes[rows] = drawn.images[own], drawn.boxes[own]
            labels[rows], view[rows] = drawn.labels[own], drawn.view[own]
        return ScenePictures(images, boxes, labels, view)

    def _block(self, draws: Draws) -> ScenePictures:
        dials, world = self.dials, self.world.dials
        fewest, most = dials.objects
        objects = fewest + (draws.uniform("objects") * (most - fewest + 1)).long()
        labels = (draws.uniform("class", most) * world.classes).long()
        variant = (draws.uniform("variant", most) * world.variants).long()
        body = (draws.uniform("body", most) * len(_ROUNDNESS)).long()
        sizes = self.bodies.size[body, variant]
        asked = torch.arange(most) < objects[:, None]
        corner, placed = scattered(draws, sizes, asked, dials.image_size)
        centre = corner + self.bodies.centre[body, variant]
        labels = labels.masked_fill(~placed, -1)
        single = (draws.uniform("single-view", most) < dials.single_view_share) & (labels >= 0)
        strong = (draws.uniform("strong", most) * world.parts_per_class).long()
        view = torch.where(single, strong, -1)

        image = backgrounds(draws, dials.image_size, world.background, world.background_kinds)
        image = self._with_clutter(draws, image)
        image = self._with_bodies(draws, image, labels >= 0, body, variant, corner)
        image, boxes = self._with_parts(draws, image, labels, view, variant, centre)
        if world.noise > 0:
            image = image + world.noise * draws.normal("noise", *image.shape[1:])
        if dials.body > 0:
            around = self.bodies.box[body, variant] + corner.flip(-1).repeat(1, 1, 2)
            boxes = torch.cat([boxes, around.unsqueeze(2)], 2)
        whole = torch.cat([boxes[..., :2].amin(2), boxes[..., 2:].amax(2)], -1).float()
        whole = whole.masked_fill((labels < 0).unsqueeze(-1), -1)
        return ScenePictures(as_bytes(image), whole, labels, view)

    def _with_clutter(self, draws: Draws, image: Tensor) -> Tensor:
        """Loose parts, one after the other, as they may overlap."""
        dials = self.world.dials
        rows, used = torch.arange(len(draws)), self.world.parts_of_class.unique()  # type: ignore[no-untyped-call]
        for loose in range(self.dials.clutter):
            chance = draws.uniform(f"clutter-{loose}", 5)
            part = used[(chance[:, 0] * len(used)).long()]
            variant = (chance[:, 1] * dials.variants).long()
            room = self.dials.image_size + 1 - self.stamps.size[part, variant]
            strength = between(dials.off_strength, chance[:, 4])
            stamps = self.stamps.pixels[part, variant]
            image = paste(image, stamps, strength, (chance[:, 2:4] * room).long(), rows)
        return image

    def _with_bodies(
        self, draws: Draws, image: Tensor, there: Tensor, body: Tensor, variant: Tensor,
        corner: Tensor,
    ) -> Tensor:  # fmt: skip
        most = self.dials.objects[1]
        shade = draws.uniform("body-shade", most, 1) * 0.5 + 0.25
        colour = (shade + (draws.uniform("body-tint", most, 3) - 0.5) * 0.24).clamp(0, 1)
        at = there.nonzero(as_tuple=True)
        stamps = self.bodies.pixels[body[at], variant[at]]
        painted = torch.cat([stamps[..., :3] * colour[at][:, None, None], stamps[..., 3:]], -1)
        strength = torch.full((len(at[0]),), self.dials.body)
        return paste(image, painted, strength, corner[at], at[0])

    def _with_parts(
        self, draws: Draws, image: Tensor, labels: Tensor, view: Tensor, variant: Tensor,
        centre: Tensor,
    ) -> tuple[Tensor, Tensor]:  # fmt: skip
        """The image with the objects' parts, and their boxes ``(n, M, parts per class, 4)``."""
        world = self.world
        part = world.parts_of_class[labels.clamp(min=0)]  # (n, M, L)
        chance = draws.uniform("main-strength", *labels.shape[1:], part.shape[-1])
        strength = between(world.dials.main_strength, chance)
        other = (view >= 0).unsqueeze(-1) & (view.unsqueeze(-1) != torch.arange(part.shape[-1]))
        strength = torch.where(other, strength * world.dials.weak_strength, strength)
        strength = strength * world.contrast[part]
        strength = strength.masked_fill((labels < 0).unsqueeze(-1), 0)
        kind = variant.unsqueeze(-1).expand_as(part)
        middle = centre.unsqueeze(2) + self._seats[variant]
        place = (middle - self.stamps.centre[part, kind]).round().long()
        room = self.dials.image_size - self.stamps.size[part, kind]
        place = torch.minimum(place, room).clamp(min=0)  # rounding may be half a pixel off
        at = strength.nonzero(as_tuple=True)
        stamps = self.stamps.pixels[part[at], kind[at]]
        image = paste(image, stamps, strength[at], place[at], at[0])
        return image, self.stamps.box[part, kind] + place.flip(-1).repeat(1, 1, 1, 2)


def _seats(views: int, rows: int, columns: int, angles: Tensor, pitch: Tensor) -> Tensor:
    """Row and column of each view's seat from the object's middle: (variants, views, 2)."""
    view = torch.arange(views)
    across = (view % columns - (columns - 1) / 2) * pitch[:, None]
    down = (view // columns - (rows - 1) / 2) * pitch[:, None]
    cos, sin = angles.cos()[:, None], angles.sin()[:, None]
    return torch.stack([sin * across + cos * down, cos * across - sin * down], -1)
