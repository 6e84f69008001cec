"""A world of part-composed images: the multi-view distribution (Definition 3.1), drawn.

On a structured background the parts of an image's class are pasted and, fainter, some of other
classes. A multi-view image shows all parts of its class, a single-view image one of them. Random
numbers come in blocks: image 17 of a stream is the same whether 18 or 18000 are drawn.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import torch
from torch import Tensor

from featlearn.images.config import WorldDials
from featlearn.images.rng import Draws
from featlearn.images.worlds.compose import (
    as_bytes,
    backgrounds,
    in_cells,
    paste,
    scattered,
    shuffled_cells,
    stamp_index,
)
from featlearn.images.worlds.parts import alphabet, draw_stamps, jitter

#: Images that share their streams, and are drawn together.
BLOCK = 64


@dataclass
class _Scene:
    """What a block of images shows, before it is drawn; see :class:`Pictures`."""

    labels: Tensor
    view: Tensor
    strengths: Tensor
    variants: Tensor
    places: Tensor

    def rows(self, chosen: Tensor | slice) -> _Scene:
        return _Scene(**{f.name: getattr(self, f.name)[chosen] for f in fields(self)})


class World:
    """Part-composed images of some classes.

    ``settings``: as in :class:`~featlearn.images.config.WorldDials`. Raises ConfigError, naming
    every key that contradicts another.
    """

    def __init__(self, settings: Mapping[str, Any]):
        self.dials = dials = WorldDials.from_settings(settings)
        views = dials.parts_per_class
        kinds = [dials.of_view(dials.part_kinds, view) for view in range(views)]
        self.parts = alphabet(dials.parts, kinds, dials.alphabet)
        self.parts_of_class = torch.tensor(dials.parts_of_class)
        sizes = [dials.pixels * dials.of_view(dials.part_scales, view) for view in range(views)]
        contrasts = [dials.of_view(dials.part_contrasts, view) for view in range(views)]
        self.contrast = torch.tensor([contrasts[p % views] for p in range(dials.parts)])
        jittered = dials.rotation > 0 or dials.scaling > 0
        self.stamps = draw_stamps(
            self.parts,
            [sizes[p % views] for p in range(dials.parts)],
            dials.stamp,
            *jitter(dials.variants if jittered else 1, dials.rotation, dials.scaling),
        )
        self._used = torch.zeros(dials.parts, dtype=torch.bool)
        self._used[self.parts_of_class.flatten()] = True

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(part.name for part in self.parts)

    @property
    def off_class_parts(self) -> int:
        """How many parts of the world a class does not have."""
        return int(self._used.sum()) - self.dials.parts_per_class

    @property
    def most_distractors(self) -> int:
        """How many distractors an image has at most: the dial, or what finds room for sure."""
        room = min(self.dials.grid**2 - self.dials.parts_per_class, self.off_class_parts)
        asked = self.dials.most_distractors
        return room if asked is None else min(asked, room)

    def sample(
        self, count: int, name: tuple[object, ...], *, single_view_share: float | None = None,
        view: int | None = None, start: int = 0,
    ) -> Pictures:  # fmt: skip
        """Draw ``count`` images of the stream called ``name``.

        ``single_view_share``: in place of the dial; it shifts no other draw. ``view``: which part
        of its class each single-view image shows; None: any. ``start``: number in the stream of the
        first image.
        """
        share = self.dials.single_view_share if single_view_share is None else single_view_share
        size = self.dials.image_size
        number = torch.arange(start, start + count)
        images = torch.empty(count, 3, size, size, dtype=torch.uint8)
        shown = [self._empty().rows(slice(0))]
        for block, rows in blocks(number):
            draws = Draws(name, block, BLOCK)
            scene = self._compose(draws, share, view)
            own = number[rows] - block * BLOCK
            images[rows] = self._paint(draws, scene)[own]
            shown.append(scene.rows(own))
        whole = _Scene(
            **{f.name: torch.cat([getattr(s, f.name) for s in shown]) for f in fields(_Scene)}
        )
        return Pictures(images=images, labels=whole.labels, strengths=whole.strengths,
                        single_view=whole.view >= 0, view=whole.view, boxes=self._boxes(whole),
                        parts_of_class=self.parts_of_class, part_names=self.names,
                        recipe=Recipe(self, name, number, whole.variants,
                                      whole.places))  # fmt: skip

    def render(self, pictures: Pictures, strengths: Tensor) -> Tensor:
        """The same pictures with their parts at other strengths: ``(N, 3, S, S)`` uint8.

        ``pictures``: n images of this world. ``strengths`` (N, parts): opacities in ``[0, 1]``.
        Raises ValueError if a part is asked for that the image does not hold.
        """
        if bool(((strengths > 0) & (pictures.strengths == 0)).any()):
            raise ValueError("strengths: above 0 for a part that the image does not hold")
        recipe = pictures.recipe
        images = torch.empty_like(pictures.images)
        for block, rows in blocks(recipe.number):
            own = recipe.number[rows] - block * BLOCK
            scene = self._empty()
            scene.strengths[own] = strengths[rows]
            scene.variants[own] = recipe.variants[rows]
            scene.places[own] = recipe.places[rows]
            images[rows] = self._paint(Draws(recipe.name, block, BLOCK), scene)[own]
        return images

    def _empty(self) -> _Scene:
        parts = self.dials.parts
        return _Scene(labels=torch.zeros(BLOCK, dtype=torch.long), view=torch.full((BLOCK,), -1),
                      strengths=torch.zeros(BLOCK, parts),
                      variants=torch.zeros(BLOCK, parts, dtype=torch.long),
                      places=torch.zeros(BLOCK, parts, 2, dtype=torch.long))  # fmt: skip

    def _compose(self, draws: Draws, share: float, view: int | None) -> _Scene:
        """Every draw happens whatever the options: they do not shift the others."""
        scene, dials = self._empty(), self.dials
        scene.labels = (draws.uniform("class") * dials.classes).long()
        single = draws.uniform("single-view") < share
        strong = (draws.uniform("strong") * dials.parts_per_class).long()
        scene.view = torch.where(single, strong if view is None else view, -1)
        scene.strengths = self._strengths(draws, scene)
        variants = self.stamps.pixels.shape[1]
        scene.variants = (draws.uniform("variant", dials.parts) * variants).long()
        scene.places = self._places(draws, scene)
        return scene

    def _strengths(self, draws: Draws, scene: _Scene) -> Tensor:
        """(n, parts): main, weak and off-class strengths, times the parts' contrasts."""
        dials, mine = self.dials, self.parts_of_class[scene.labels]
        main = between(dials.main_strength, draws.uniform("main-strength", dials.parts_per_class))
        views = torch.arange(dials.parts_per_class)
        weak = (scene.view[:, None] >= 0) & (scene.view[:, None] != views)
        main = torch.where(weak, main * dials.weak_strength, main)
        chance = draws.uniform("distractor", dials.parts).masked_fill_(~self._used, 1.0)
        chance.scatter_(1, mine, 1.0)
        chosen = chance < min(dials.sparsity / dials.classes, 1.0)
        if self.off_class_parts > self.most_distractors:  # keep those with the lowest numbers
            kept = chance.argsort(1)[:, : self.most_distractors]
            chosen &= torch.zeros_like(chosen).scatter_(1, kept, True)
        off = between(dials.off_strength, draws.uniform("off-strength", dials.parts))
        strengths = torch.where(chosen, off, 0.0).scatter_(1, mine, main)
        return strengths * self.contrast

    def _places(self, draws: Draws, scene: _Scene) -> Tensor:
        """(n, parts, 2): rows and columns of the parts that are there."""
        slots = self.dials.parts_per_class + self.most_distractors
        order = (scene.strengths > 0).float()
        mine = self.parts_of_class[scene.labels]
        ahead = torch.arange(self.dials.parts_per_class, 0, -1) + 1.0  # 2 or more, by view
        order.scatter_(1, mine, ahead.expand(mine.shape))
        part = order.argsort(dim=1, descending=True, stable=True)[:, :slots]  # (n, slots)
        present = scene.strengths.gather(1, part) > 0
        sizes = self.stamps.size[part, scene.variants.gather(1, part)]
        places = self._slot_places(draws, sizes, present)
        return scene.places.scatter_(1, part.unsqueeze(-1).expand_as(places), places)

    def _slot_places(self, draws: Draws, sizes: Tensor, present: Tensor) -> Tensor:
        dials, slots = self.dials, sizes.shape[1]
        grid, size = dials.grid, dials.image_size
        if dials.placement == "random":
            places, placed = scattered(draws, sizes, present, size)
            found = (placed == present).all(1)
            cells = shuffled_cells(draws, slots, grid)  # for images that the tries did not fill
            shaken = in_cells(cells, sizes, grid, size, draws.uniform("shake", slots, 2))
            return torch.where(found[:, None, None], places, shaken)
        return in_cells(shuffled_cells(draws, slots, grid), sizes, grid, size)

    def _boxes(self, scene: _Scene) -> Tensor:
        parts = torch.arange(self.dials.parts)
        corner = scene.places.flip(-1).repeat(1, 1, 2)  # y, x -> x, y, x, y
        boxes = self.stamps.box[parts, scene.variants] + corner
        return boxes.masked_fill(scene.strengths.unsqueeze(-1) == 0, -1).to(torch.int16)

    def _paint(self, draws: Draws, scene: _Scene) -> Tensor:
        """(block, 3, S, S) uint8. Whole blocks only: sums then round alike in every call."""
        dials = self.dials
        behind = backgrounds(draws, dials.image_size, dials.background, dials.background_kinds)
        image, part = scene.strengths.nonzero(as_tuple=True)
        stamps = self.stamps.pixels[part, scene.variants[image, part]]
        drawn = paste(
            behind, stamps, scene.strengths[image, part], scene.places[image, part], image
        )
        if dials.noise > 0:
            drawn.add_(draws.normal("noise", *drawn.shape[1:]), alpha=dials.noise)
        return as_bytes(drawn)


def blocks(number: Tensor) -> Iterator[tuple[int, Tensor]]:
    """Each block that images of a stream are from, and which of them."""
    block = number // BLOCK
    for one in sorted(set(block.tolist())):
        yield one, (block == one).nonzero().squeeze(1)


def between(bounds: Sequence[float], share: Tensor) -> Tensor:
    """``share`` of the way from the lower to the upper bound."""
    low, high = bounds
    return low + (high - low) * share


@dataclass(frozen=True)
class Recipe:
    """What draws pictures again: where they come from, and their parts' variants and places.

    ``world``: what drew them. ``name``: of the stream. ``number`` (N,) int64: place in the stream.
    ``variants`` (N, parts) int64. ``places`` (N, parts, 2) int64: row and column of the top left
    corner; meaningless where a part is absent.
    """

    world: World
    name: tuple[object, ...]
    number: Tensor
    variants: Tensor
    places: Tensor


@dataclass(frozen=True)
class Pictures:
    """N part-composed images of S x S pixels.

    ``images`` (N, 3, S, S) uint8. ``labels`` (N,) int64: class. ``strengths`` (N, parts): opacity;
    0 where a part is absent. ``single_view`` (N,) bool. ``view`` (N,) int64: which part of its
    class is strong in a single-view image; else -1. ``boxes`` (N, parts, 4) int16: ``x0, y0, x1,
    y1`` in pixels (half-open); -1 where absent. ``parts_of_class`` (classes, parts per class)
    int64. ``part_names``: of every part. ``recipe``: what draws the images again.
    """

    images: Tensor
    labels: Tensor
    strengths: Tensor
    single_view: Tensor
    view: Tensor
    boxes: Tensor
    parts_of_class: Tensor
    part_names: tuple[str, ...]
    recipe: Recipe

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def own(self) -> Tensor:
        """(N, parts) bool: parts of the image's class, present or not."""
        mask = torch.zeros(self.strengths.shape, dtype=torch.bool)
        return mask.scatter_(1, self.parts_of_class[self.labels], True)

    def subset(self, rows: Tensor | slice) -> Pictures:
        """The pictures of ``rows`` (numbers, a mask, or a slice)."""
        names = ("images", "labels", "strengths", "single_view", "view", "boxes")
        recipe = replace(
            self.recipe,
            **{name: getattr(self.recipe, name)[rows] for name in ("number", "variants", "places")},
        )
        return replace(self, recipe=recipe, **{name: getattr(self, name)[rows] for name in names})

    def coverage(self, rows: Tensor | slice = slice(None)) -> Tensor:
        """How much of each pixel each part covers: ``(n, parts, S, S)`` float32 in ``[0, 1]``."""
        chosen = self.subset(rows)
        recipe, stamps = chosen.recipe, chosen.recipe.world.stamps
        n, parts, size = *chosen.strengths.shape, chosen.images.shape[-1]
        image, part = chosen.strengths.nonzero(as_tuple=True)
        shapes = stamps.pixels[part, recipe.variants[image, part], ..., 3]
        at, pixels = stamp_index(shapes, recipe.places[image, part], image * parts + part, size)
        canvas = torch.zeros(n * parts * size * size)
        canvas[at] = shapes[pixels]
        return canvas.view(n, parts, size, size)

    def part_masks(self, rows: Tensor | slice = slice(None)) -> Tensor:
        """Pixels of each part: ``(n, parts, S, S)`` bool, those that it covers by half or more."""
        return self.coverage(rows) >= 0.5


def erase(pictures: Pictures, parts: Tensor) -> Tensor:
    """The same images (N, 3, S, S) with parts replaced by what the background shows there.

    ``parts`` (N, parts) bool, or (N,) int64: which parts of each image, or the number of one.
    """
    if parts.ndim == 1:
        parts = torch.nn.functional.one_hot(parts, pictures.strengths.shape[1]).bool()
    return pictures.recipe.world.render(pictures, pictures.strengths.masked_fill(parts, 0.0))
