"""Masks over images: square cells, a fixed number of them in every image.

The exact count makes the masked area a constant, so a loss over masked pixels has the same scale in
every image, batch and process.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from featlearn.core.errors import ConfigError
from featlearn.images.draws import Draws


def cells(size: tuple[int, int], cell: int) -> tuple[int, int]:
    """Rows and columns of cells of ``cell`` pixels in an image of ``size`` = (height, width).

    Raises
    ------
    ConfigError
        If the cells do not fill the image.
    """
    height, width = size
    if cell < 1 or height % cell or width % cell:
        raise ConfigError(
            f"cells of {cell} px do not fill an image of {height}x{width} px; "
            "expected a divisor of both sides"
        )
    return height // cell, width // cell


def masked_count(ratio: float, number: int) -> int:
    """``ceil(ratio * number)`` cells, as SimMIM counts; at least 1, and at least 1 stays visible.

    Raises
    ------
    ConfigError
        If the ratio leaves no cell masked or none visible.
    """
    count = math.ceil(ratio * number - 1e-9)  # 0.55 * 100 is a little above 55 in floating point
    if not 0 < count < number:
        raise ConfigError(
            f"mask ratio {ratio}: masks {count} of {number} cells; expected a ratio that leaves "
            "some cells masked and some visible"
        )
    return count


def random_order(draws: Draws, number: int, purpose: str = "mask") -> Tensor:
    """A random order of ``number`` cells for each image: int64 (B, number), on the CPU."""
    return draws.uniform(purpose, number).argsort(dim=1, stable=True)


def random_mask(draws: Draws, grid: tuple[int, int], ratio: float, purpose: str = "mask") -> Tensor:
    """Cells drawn without replacement: bool (B, rows, columns), True is masked, on the CPU."""
    number = grid[0] * grid[1]
    masked = random_order(draws, number, purpose)[:, : masked_count(ratio, number)]
    mask = torch.zeros(len(masked), number, dtype=torch.bool)
    return mask.scatter_(1, masked, True).view(-1, *grid)


def upsample(mask: Tensor, factor: int) -> Tensor:
    """Each cell becomes ``factor`` by ``factor``: (B, h, w) to (B, factor * h, factor * w)."""
    batch, rows, columns = mask.shape
    wide = mask[:, :, None, :, None].expand(batch, rows, factor, columns, factor)
    return wide.reshape(batch, rows * factor, columns * factor)


def masked_share(mask: Tensor, cell: int, stride: int) -> Tensor:
    """How much of each cell of a coarser or finer grid is masked.

    Parameters
    ----------
    mask
        Over cells of ``cell`` px: bool (B, h, w).
    stride
        Pixels of the wanted grid's cells; a divisor or a multiple of ``cell``.

    Returns
    -------
    Tensor
        Shares in [0, 1]: float32 (B, h * cell / stride, w * cell / stride); only 0 and 1 where the
        wanted cells are not larger.
    """
    if cell % stride == 0:
        return upsample(mask, cell // stride).float()
    if stride % cell == 0:
        return F.avg_pool2d(mask[:, None].float(), stride // cell)[:, 0]
    raise ConfigError(
        f"mask cells of {cell} px over a map of {stride} px a cell; "
        "expected that one is a multiple of the other"
    )
