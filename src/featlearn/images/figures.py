"""Pictures side by side: contact sheets, heat maps, mosaics. Imports no torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from matplotlib.layout_engine import ConstrainedLayoutEngine

from featlearn.core.drawing.plots import COLOURS, canvas

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, FigureBase
    from torch import Tensor


#: Pictures are drawn with at least so many pixels a side, so that their heat is smooth.
PIXELS = 128
#: Cells of a picture and its maps, and the gap to the next, in widths of a cell.
GAP = 0.25
#: Letters of a class's name that stand below a map.
LETTERS = 16


def enlarged(images: Tensor, heat: Tensor) -> Tensor:
    """Overlays uint8 (N, 3, L, L), L >= ``PIXELS``, of few pixels: squares stay, heat is smooth."""
    import torch

    from featlearn.images.cam.eigencam import overlay

    times = -(-PIXELS // images.shape[-1])
    large = images.repeat_interleave(times, 2).repeat_interleave(times, 3)
    smooth = torch.nn.functional.interpolate(
        heat[:, None], scale_factor=times, mode="bilinear", align_corners=False
    )[:, 0]
    return overlay(large, smooth.clamp(0, 1))


def page(height: float) -> Figure:
    """Pictures close together: words between them need little room."""
    drawn = canvas(8.2, height)
    engine = drawn.get_layout_engine()
    if isinstance(engine, ConstrainedLayoutEngine):
        engine.set(w_pad=0.02, h_pad=0.02, wspace=0.0, hspace=0.0)
    return drawn


def height_of(width: int, across: int, down: int) -> float:
    """Inches of rows of slots of ``width`` cells, words included, on a page 8.2 inches wide."""
    return down * (8.0 / (across * width + (across - 1) * GAP) + 0.26)


def slots(part: FigureBase, count: int, names: Sequence[str], across: int) -> list[list[Axes]]:
    """The empty cells of each picture: one for itself, one for each of ``names``."""
    width = 1 + len(names)
    ratios = [*([1.0] * width + [GAP]) * across][:-1]
    axes = part.subplots(
        -(-count // across), len(ratios), squeeze=False, gridspec_kw={"width_ratios": ratios}
    )
    for ax in axes.flat:
        ax.set_axis_off()
    found = []
    for number in range(count):
        row, slot = divmod(number, across)
        found.append(list(axes[row, slot * (width + 1) : slot * (width + 1) + width]))
        if row == 0:
            for ax, name in zip(found[-1], ["picture", *names], strict=True):
                ax.set_title(name, fontsize=8, weight="normal", loc="center", pad=3)
    return found


def image_cell(ax: Axes, picture: Tensor, size: int) -> None:
    """A picture in coordinates of ``size`` pixels, whatever its own resolution."""
    ax.set_axis_on()
    edges = (-0.5, size - 0.5, size - 0.5, -0.5)
    ax.imshow(picture.permute(1, 2, 0).numpy(), interpolation="nearest", extent=edges)
    bare(ax)


def photograph_maps(photographs: Tensor, overlays: Mapping[str, Tensor]) -> Figure:
    """Photographs (N, 3, S, S) in the first row, below it one row of maps a network."""
    rows = {"photograph": photographs, **overlays}
    count = len(photographs)
    drawn = canvas(max(3.0, 1.35 * count), 1.4 * len(rows) + 0.1)
    axes = drawn.subplots(len(rows), count, squeeze=False)
    for row, (name, pictures) in zip(axes, rows.items(), strict=True):
        for ax, picture in zip(row, pictures, strict=True):
            image_cell(ax, picture, photographs.shape[-1])
        row[0].set_ylabel(name, fontsize=8)
    return drawn


def mosaic(pictures: pd.DataFrame, kind: str, columns: int = 4) -> np.ndarray:
    """Pictures side by side with a white border: (height, width, 3) uint8."""
    own = pictures[pictures["kind"] == kind]
    counts = [int(own[name].max()) + 1 for name in ("channel", "row", "column")]
    values = own[["red", "green", "blue"]].to_numpy(np.uint8).reshape(*counts, 3)
    values = values[: columns * max(1, len(values) // columns)]
    columns = min(columns, len(values))
    border = max(1, counts[1] // 16)
    # white on the right and below
    framed = np.pad(values, ((0, 0), (0, border), (0, border), (0, 0)), constant_values=255)
    rows = len(framed) // columns
    grid = framed.reshape(rows, columns, *framed.shape[1:]).transpose(0, 2, 1, 3, 4)
    return grid.reshape(rows * framed.shape[1], columns * framed.shape[2], 3)


def bare(ax: Axes) -> None:
    """No ticks, no frame, no grid."""
    ax.set_xticks([])
    ax.set_yticks([])
    ax.grid(visible=False)
    for spine in ax.spines.values():
        spine.set_visible(False)


@dataclass(frozen=True)
class Panel:
    """Images beside what some classifiers make of them.

    ``title``: which data. ``images``: uint8 (N, 3, S, S). ``truth``: names of each image's classes,
    if known. ``overlays``: uint8 (N, 3, L, L) a classifier, by its name. ``said``: the class that
    it says.
    """

    title: str
    images: Tensor
    truth: Sequence[Sequence[str]]
    overlays: Mapping[str, Tensor]
    said: Mapping[str, Sequence[str]]


def maps_figure(panels: Sequence[Panel]) -> Figure:
    """One panel below the other; a slot an image: itself, then its map under each classifier."""
    across = [3 if len(one.overlays) < 3 else 2 for one in panels]
    heights = [height_of(1 + len(one.overlays), wide, -(-len(one.images) // wide)) + 0.3
               for one, wide in zip(panels, across, strict=True)]  # fmt: skip
    drawn = page(sum(heights))
    parts = drawn.subfigures(len(panels), 1, height_ratios=heights, squeeze=False)[:, 0]
    for part, one, wide in zip(parts, panels, across, strict=True):
        part.suptitle(one.title, x=0.01, ha="left", fontsize=9, weight="bold")
        cells_of = slots(part, len(one.images), list(one.overlays), wide)
        for number, (cells, known) in enumerate(zip(cells_of, one.truth, strict=True)):
            image_cell(cells[0], one.images[number], one.images.shape[-1])
            more = f" + {len(known) - 1}" if len(known) > 1 else ""
            _below(cells[0], known[0] + more if known else "no class", COLOURS["ink"])
            for ax, name in zip(cells[1:], one.overlays, strict=True):
                image_cell(ax, one.overlays[name][number], one.images.shape[-1])
                if (said := one.said[name][number]) not in known:
                    _below(ax, f"says {said}", COLOURS["red"])
    return drawn


def _below(ax: Axes, words: str, colour: str) -> None:
    text = words if len(words) <= LETTERS else f"{words[: LETTERS - 1]}…"
    text = text.replace("$", r"\$")
    ax.set_xlabel(text, fontsize=8, color=colour, labelpad=2)
