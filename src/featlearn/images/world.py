"""A world of part-composed images: the multi-view distribution (Definition 3.1), drawn.

An image is a structured background on which the parts of its class are pasted, and, with less
contrast, some parts of other classes. A multi-view image shows all parts of its class; a
single-view image shows one of them, and the others faintly or not at all.

Random numbers come in blocks of images, each with streams of its own: image 17 of a stream is the
same whether 18 or 18000 are drawn.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import torch
from torch import Tensor

from featlearn.images.backgrounds import backgrounds
from featlearn.images.config import WorldDials
from featlearn.images.draws import Draws
from featlearn.images.parts import alphabet, draw_stamps, jitter
from featlearn.images.pasting import as_bytes, paste
from featlearn.images.pictures import Pictures, Recipe
from featlearn.images.placement import (
    fixed_cells,
    group_cells,
    in_cells,
    scattered,
    shuffled_cells,
)

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

    Parameters
    ----------
    settings
        Dials as in :class:`~featlearn.images.config.WorldDials`; absent ones have their defaults.

    Raises
    ------
    ConfigError
        Naming every key that is unknown, impossible or contradicts another.

    Examples
    --------
    >>> world = World({"classes": 4, "single_view_share": 0.2})
    >>> pictures = world.sample(100, (0, "example", "train"))
    >>> pictures.images.shape
    torch.Size([100, 3, 32, 32])
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
        """Name of every part, by number."""
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
        self,
        count: int,
        name: tuple[object, ...],
        *,
        single_view_share: float | None = None,
        view: int | None = None,
        start: int = 0,
    ) -> Pictures:
        """Draw ``count`` images of the stream called ``name``.

        Parameters
        ----------
        count
            N.
        name
            Parts of the stream's name, e.g. ``(seed, "mrp", "images", replicate, "train")``.
        single_view_share
            In place of the dial of this name. It shifts no other draw.
        view
            Which part of its class each single-view image shows; None: any, at random.
        start
            Number in the stream of the first image.
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
        return Pictures(
            images=images,
            labels=whole.labels,
            strengths=whole.strengths,
            single_view=whole.view >= 0,
            view=whole.view,
            boxes=self._boxes(whole),
            parts_of_class=self.parts_of_class,
            part_names=self.names,
            recipe=Recipe(self, name, number, whole.variants, whole.places),
        )

    def render(self, pictures: Pictures, strengths: Tensor) -> Tensor:
        """The same pictures with their parts at other strengths.

        Background, noise, variants and places stay as they are. Only parts that an image holds
        can be changed, as the others have no place.

        Parameters
        ----------
        pictures
            N images of this world.
        strengths : (N, parts)
            Opacities in ``[0, 1]``.

        Returns
        -------
        Tensor
            ``(N, 3, S, S)`` uint8.

        Raises
        ------
        ValueError
            If a part is asked for that the image does not hold.
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

    # -------------------------------------------------------------------- what an image shows

    def _empty(self) -> _Scene:
        parts = self.dials.parts
        return _Scene(
            labels=torch.zeros(BLOCK, dtype=torch.long),
            view=torch.full((BLOCK,), -1),
            strengths=torch.zeros(BLOCK, parts),
            variants=torch.zeros(BLOCK, parts, dtype=torch.long),
            places=torch.zeros(BLOCK, parts, 2, dtype=torch.long),
        )

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
        grid, size, views = dials.grid, dials.image_size, dials.parts_per_class
        if dials.placement == "random":
            places, placed = scattered(draws, sizes, present, size)
            found = (placed == present).all(1)
            cells = shuffled_cells(draws, slots, grid)  # for images that the tries did not fill
            shaken = in_cells(cells, sizes, grid, size, draws.uniform("shake", slots, 2))
            return torch.where(found[:, None, None], places, shaken)
        taken = None
        if dials.placement == "fixed":
            taken = fixed_cells(views, grid).expand(len(draws), views)
        elif dials.placement == "group":
            taken = group_cells(draws, views, grid)
        return in_cells(shuffled_cells(draws, slots, grid, taken), sizes, grid, size)

    def _boxes(self, scene: _Scene) -> Tensor:
        parts = torch.arange(self.dials.parts)
        corner = scene.places.flip(-1).repeat(1, 1, 2)  # y, x -> x, y, x, y
        boxes = self.stamps.box[parts, scene.variants] + corner
        return boxes.masked_fill(scene.strengths.unsqueeze(-1) == 0, -1).to(torch.int16)

    # ------------------------------------------------------------------------------- drawing

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
