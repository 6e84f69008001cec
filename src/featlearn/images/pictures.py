"""Part-composed images with all that they were made from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from featlearn.images.pasting import stamp_index

if TYPE_CHECKING:
    from featlearn.images.world import World


@dataclass(frozen=True)
class Recipe:
    """What draws pictures again: where they come from, and their parts' variants and places.

    Attributes
    ----------
    world
        What drew them.
    name
        Name of the stream.
    number : (N,) int64
        Place of each image in the stream.
    variants : (N, parts) int64
        Which variant of each part.
    places : (N, parts, 2) int64
        Row and column of the top left corner of each part; meaningless where it is absent.
    """

    world: World
    name: tuple[object, ...]
    number: Tensor
    variants: Tensor
    places: Tensor


@dataclass(frozen=True)
class Pictures:
    """N part-composed images of S x S pixels.

    Attributes
    ----------
    images : (N, 3, S, S) uint8
        RGB.
    labels : (N,) int64
        Class.
    strengths : (N, parts)
        Opacity of each part of the alphabet; 0 where it is absent.
    single_view : (N,) bool
        Single-view images.
    view : (N,) int64
        Which part of its class is strong in a single-view image; -1 in a multi-view one.
    boxes : (N, parts, 4) int16
        ``x0, y0, x1, y1`` in pixels (half-open) around the mask of each part; -1 where absent.
    parts_of_class : (classes, parts per class) int64
        Part numbers of each class.
    part_names
        Name of every part.
    recipe
        What draws the images again.
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
        """How much of each pixel each part covers: ``(n, parts, S, S)`` float32 in ``[0, 1]``.

        Made when asked for; a part's coverage does not depend on its strength.
        """
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
    """The same images with parts replaced by what the background shows there.

    Background, noise and all other parts stay as they are, to the bit.

    Parameters
    ----------
    pictures
        N images.
    parts : (N, parts) bool, or (N,) int64
        Which parts of each image, or the number of one part for each image.

    Returns
    -------
    Tensor
        ``(N, 3, S, S)`` uint8.
    """
    if parts.ndim == 1:
        parts = torch.nn.functional.one_hot(parts, pictures.strengths.shape[1]).bool()
    return pictures.recipe.world.render(pictures, pictures.strengths.masked_fill(parts, 0.0))
