"""Regions of small maps pooled by matrix products.

RoIAlign (He et al. 2017) reads each cell of a pooled region off the map by bilinear interpolation
at some points and takes their mean. That is linear in the map and separable: a matrix for the rows
and one for the columns of each region. On a small map two products are several times faster than
torchvision's kernel, whose backward pass on a processor goes point by point; and on CUDA their
gradient sums in a fixed order, for which torchvision has to leave its kernel.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor
from torchvision.ops import MultiScaleRoIAlign

#: Maps of more cells are left to torchvision: products read all of a map for each region.
MOST_CELLS = 256


def interpolation(low: Tensor, high: Tensor, cells: int, count: int, points: int) -> Tensor:
    """Share of each row of a map in each cell of the pooled regions.

    Parameters
    ----------
    low, high : (R,)
        Edges of the regions along one axis, in cells of the map.
    cells
        Cells of the map along this axis.
    count
        Cells that a region is pooled to along this axis.
    points
        Points of a pooled cell along this axis.

    Returns
    -------
    Tensor
        (R, count, cells). Points up to a cell outside the map read its edge, others nothing.
    """
    step = (high - low).clamp(min=1) / count
    place = (torch.arange(count * points, device=low.device, dtype=low.dtype) + 0.5) / points
    at = low[:, None] + place * step[:, None]
    inside = (at >= -1) & (at <= cells)
    rows = torch.arange(cells, device=low.device, dtype=low.dtype)
    near = 1 - (at.clamp(0, cells - 1)[..., None] - rows).abs()
    share = near.clamp(min=0) * inside[..., None]
    return share.view(len(low), count, points, cells).mean(2)


def pool(maps: Tensor, boxes: Sequence[Tensor], size: int, scale: float, points: int) -> Tensor:
    """RoIAlign of boxes on maps, as ``torchvision.ops.roi_align`` with ``aligned=False`` gives it.

    Parameters
    ----------
    maps : (B, C, H, W)
    boxes
        For each map (R, 4): ``x0, y0, x1, y1`` in pixels.
    size
        A region is pooled to ``size x size`` cells.
    scale
        Cells of a map for each pixel.
    points
        Points of a pooled cell along each axis.

    Returns
    -------
    Tensor
        (sum of R, C, size, size).
    """
    # as torchvision's kernel: places of points need float32, whatever the network computes in
    exact = torch.promote_types(maps.dtype, torch.float32)
    with torch.autocast(maps.device.type, enabled=False):
        return _pool(maps.to(exact), boxes, size, scale, points).to(maps.dtype)


def _pool(maps: Tensor, boxes: Sequence[Tensor], size: int, scale: float, points: int) -> Tensor:
    channels, height, width = maps.shape[1:]
    counts = [len(own) for own in boxes]
    x0, y0, x1, y1 = (torch.cat(list(boxes)).to(maps.dtype) * scale).unbind(1)
    rows = torch.split(interpolation(y0, y1, height, size, points), counts)
    columns = interpolation(x0, x1, width, size, points)
    # (H, C * W) of each map: all its regions in one product
    flat = maps.permute(0, 2, 1, 3).flatten(2)
    read = torch.cat([one.flatten(0, 1) @ own for one, own in zip(rows, flat, strict=True)])
    pooled = read.view(len(columns), size * channels, width) @ columns.mT
    return pooled.view(len(columns), size, channels, size).transpose(1, 2)


class RegionPooling(MultiScaleRoIAlign):  # type: ignore[misc]
    """torchvision's pooling of regions, by products on a single map that is small."""

    def forward(
        self,
        x: dict[str, Tensor],
        boxes: list[Tensor],
        image_shapes: list[tuple[int, int]],
    ) -> Tensor:
        """As in torchvision: maps by name, boxes of each image, and sizes of the images."""
        named = [x[name] for name in self.featmap_names if name in x]
        if len(named) > 1 or named[0].shape[-2:].numel() > MOST_CELLS:
            return super().forward(x, boxes, image_shapes)
        pixels = max(height for height, _ in image_shapes)
        scale = 2.0 ** round(math.log2(named[0].shape[-2] / pixels))
        return pool(named[0], boxes, self.output_size[0], scale, self.sampling_ratio)
