"""Figures, tables and claims of this chapter, a module an experiment. Imports no torch.

Here are maps of directions, at one scale, each panel no larger than what it shows.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import PlaceHolderLayoutEngine

from featlearn.core.drawing.plots import COLOURS, FILLS, PAGE, canvas

#: Inches: around the points of a panel, between panels, above and below a row, most for a unit.
EDGE, GAP, ABOVE, BELOW, UNIT = 0.13, 0.12, 0.24, 0.24, 2.4


def panels(
    places: Sequence[Sequence[pd.DataFrame]], *, left: float = 0.02, right: float = 0.02,
    foot: float = 0.0, lines: int = 1, titled: bool = True, page: float = PAGE,
) -> tuple[Figure, list[list[Axes]]]:  # fmt: skip
    """Empty panels, a row each of ``places``, which hold the ``x`` and ``y`` that will be drawn.

    A unit is as long in every panel and direction. ``left``, ``right`` and ``foot`` are inches for words beside the
    panels, ``lines`` those below each; with ``titled`` every row has a title. ``page`` is the width of all.
    """
    ends = np.array([[one[["x", "y"]].agg(["min", "max"]) for one in line] for line in places])
    wide, high = np.moveaxis(np.ptp(ends, axis=2), 2, 0)
    widths, heights = wide.max(axis=0), high.max(axis=1)
    count, below = len(widths), BELOW + 0.16 * (lines - 1)
    room = page - left - right - GAP * (count - 1) - 2 * EDGE * count
    unit = min(UNIT, room / max(widths.sum(), 0.1))
    broad, tall = unit * widths + 2 * EDGE, unit * heights + 2 * EDGE
    width = left + right + broad.sum() + GAP * (count - 1)
    above = ABOVE * np.where(titled, 1, np.arange(len(tall)) == 0)
    height = foot + (tall + above + below).sum()
    # leaves the panels where they are: Matplotlib would turn "none" into the default as it saves
    drawn = canvas(width, height, layout=PlaceHolderLayoutEngine(True, True))
    axes: list[list[Axes]] = []
    top = height
    for line, size, head in zip(ends, tall, above, strict=True):
        top -= head + size
        axes.append([])
        at = left
        for (low, high_end), extent in zip(line, broad, strict=True):
            ax = drawn.add_axes((at / width, top / height, extent / width, size / height))
            half = np.array((extent, size)) / unit / 2
            middle = (low + high_end) / 2
            ax.set(xticks=[], yticks=[], xlim=middle[0] + half[0] * np.array((-1, 1)),
                   ylim=middle[1] + half[1] * np.array((-1, 1)))  # fmt: skip
            ax.spines[:].set(visible=True, color=FILLS["rule"], linewidth=0.6)
            axes[-1].append(ax)
            at += extent + GAP
        top -= below
    return drawn, axes


def hollow(ax: Axes, shown: pd.DataFrame, marker: str, colour: str, label: str = "") -> None:
    """What neurons are compared with: above them, and hollow, so that none is hidden."""
    ax.plot(shown["x"], shown["y"], marker, markersize=12 if marker == "*" else 7,
            markerfacecolor="none", markeredgecolor=COLOURS[colour], markeredgewidth=1.2, zorder=4,
            label=label or None)  # fmt: skip
