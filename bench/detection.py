"""Pooling of regions by products against torchvision's RoIAlign, by the size of the map."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
import torch
from torchvision.ops import roi_align

from bench.timing import ratio, side_by_side
from featlearn.images.detection import MOST_CELLS, pool

SIDES = (4, 8, 16, 32)
IMAGES, CHANNELS, REGIONS, SIZE, POINTS = 4, 64, 32, 5, 2
#: Passes of one run.
PASSES = 4

Pooling = Callable[..., torch.Tensor]


def passes(pooling: Pooling, side: int) -> Callable[[], object]:
    """Forward and backward pass of a training step, on one map of ``side x side`` cells."""
    own = torch.Generator().manual_seed(0)
    maps = torch.randn(IMAGES, CHANNELS, side, side, generator=own, requires_grad=True)
    corners = torch.rand(IMAGES, REGIONS, 2, 2, generator=own) * side
    boxes = list(corners.sort(2)[0].flatten(2))

    def run() -> None:
        for _ in range(PASSES):
            pooled = pooling(maps, boxes, SIZE, 1.0, POINTS)
            torch.autograd.grad(pooled.sum(), maps)

    return run


def pooling_ratios() -> pd.DataFrame:
    """How many times as long torchvision takes.

    Returns
    -------
    DataFrame
        Columns side (cells of the map's side), used (whether products are used there), ratio,
        wanted.
    """
    rows = []
    for side in SIDES:
        rivals = {"products": passes(pool, side), "torchvision": passes(roi_align, side)}
        share = ratio(side_by_side(rivals), "torchvision", "products")
        used = side**2 <= MOST_CELLS
        rows.append((side, used, share, ">= 1" if used else ""))
    return pd.DataFrame(rows, columns=["side", "used", "ratio", "wanted"])


def compared(rivals: pd.DataFrame) -> pd.DataFrame:
    """The same as lines of the summary."""
    cells = rivals["side"].astype(str)
    what = "pooling of regions, maps of " + cells + " cells a side: torchvision / products"
    return rivals.assign(what=what)[["what", "ratio", "wanted"]]


BENCHMARKS = {"pooling-ratios": pooling_ratios}
COMPARED = {"pooling-ratios": compared}
