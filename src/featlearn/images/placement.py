"""Where the parts of an image go: places without overlap, for a batch of images at once.

The parts of an image stand in slots: those of its class first, in the order of their views, then
the distractors. A place is the top left corner of a part, ``(y, x)`` in pixels.
"""

from __future__ import annotations

import torch
from torch import Tensor

from featlearn.images.config import group_shape
from featlearn.images.draws import Draws

_TRIES = 24


def scattered(
    draws: Draws, sizes: Tensor, present: Tensor, image_size: int
) -> tuple[Tensor, Tensor]:
    """Slot after slot at a random place that does not overlap the places before it.

    Parameters
    ----------
    draws
        Random numbers, one set an image.
    sizes : (n, slots, 2) int64
        Height and width of the part in each slot.
    present : (n, slots) bool
        Which slots hold a part.
    image_size
        Side of the images.

    Returns
    -------
    places : (n, slots, 2) int64
    placed : (n, slots) bool
        Which of the parts found a place.
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

    Parameters
    ----------
    cells : (n, slots) int64
        Cell of each slot, row by row.
    sizes : (n, slots, 2) int64
        Height and width of the part in each slot.
    grid
        Cells a side.
    image_size
        Side of the images.
    shake : (n, slots, 2), optional
        Where within its cell a part is, in ``[0, 1)``; None: in the middle.
    """
    corner = torch.stack([cells // grid, cells % grid], -1) * image_size // grid
    slack = image_size // grid - sizes
    inner = slack // 2 if shake is None else (shake * (slack + 1)).long()
    return corner + inner


def shuffled_cells(draws: Draws, slots: int, grid: int, taken: Tensor | None = None) -> Tensor:
    """A different cell for each slot, at random: ``(n, slots)`` int64.

    Parameters
    ----------
    draws
        Random numbers, one set an image.
    slots
        At most the number of cells.
    grid
        Cells a side.
    taken : (n, m) int64, optional
        Cells of the first m slots; the others share the rest.
    """
    order = draws.uniform("cells", grid * grid)
    if taken is not None:  # before all others, in their own order
        ahead = torch.arange(taken.shape[1], dtype=order.dtype) - taken.shape[1]
        order.scatter_(1, taken, ahead.expand(taken.shape))
    return order.argsort(1)[:, :slots]


def fixed_cells(parts: int, grid: int) -> Tensor:
    """Cells of the views in a fixed layout, spread over the grid: ``(parts,)`` int64."""
    return (torch.arange(parts) * 2 + 1) * grid * grid // (2 * parts)


def group_cells(draws: Draws, parts: int, grid: int) -> Tensor:
    """Neighbouring cells, view by view in rows, at a random place of the grid: ``(n, parts)``."""
    rows, columns = group_shape(parts)
    room = torch.tensor([grid - rows + 1, grid - columns + 1])
    corner = (draws.uniform("group", 2) * room).long()
    view = torch.arange(parts)
    return (corner[:, :1] + view // columns) * grid + corner[:, 1:] + view % columns
