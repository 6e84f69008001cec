"""One look for all figures, and files that are the same to the byte each time they are drawn."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import FuncFormatter, LogFormatter, LogLocator, NullFormatter
from matplotlib.transforms import Bbox

from featlearn.core.drawing.palette import COLOURS, FILLS, PALETTE

if TYPE_CHECKING:
    from matplotlib.axis import Axis
    from matplotlib.legend import Legend

__all__ = ["COLOURS", "FILLS", "PALETTE", "canvas", "save"]

#: Width of a page in inches: a wider figure is shown smaller, and its text, of 8 points at least.
PAGE = 8.6

STYLE: dict[Any, Any] = {
    "figure.dpi": 100,
    "savefig.dpi": 160,
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.labelsize": 9,
    "axes.linewidth": 0.8,
    "xtick.labelsize": 8.5,
    "ytick.labelsize": 8.5,
    "xtick.major.width": 0.8,
    "ytick.major.width": 0.8,
    "legend.fontsize": 8.5,
    "legend.title_fontsize": 8.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#E5E5E5",
    "legend.frameon": False,
    "lines.linewidth": 1.4,
    "svg.fonttype": "path",
    "svg.hashsalt": "featlearn",
    "figure.constrained_layout.use": True,
}


class _Canvas(Figure):
    """A figure whose legend gets at most as many columns as fit, or it would be cut off."""

    def legend(self, *args: Any, ncols: int = 1, **kwargs: Any) -> Legend:
        renderer = self.canvas.get_renderer()  # type: ignore[attr-defined]
        for columns in range(ncols, 0, -1):
            made = super().legend(*args, ncols=columns, **kwargs)
            if columns == 1 or made.get_window_extent(renderer).width <= self.bbox.width:
                return made
            made.remove()
        raise ValueError(f"ncols={ncols}: expected at least 1")


def canvas(width: float, height: float, **kwargs: object) -> Figure:
    """A figure of ``width`` x ``height`` inches in the house style, which it makes current."""
    matplotlib.rcdefaults()
    matplotlib.rcParams.update(STYLE)
    return plt.figure(figsize=(width, height), FigureClass=_Canvas, **kwargs)  # type: ignore[arg-type]


def _readable(axis: Axis) -> None:
    """Plain numbers on a log axis shorter than two decades, where Matplotlib's would overlap."""
    formatter, locator = axis.get_major_formatter(), axis.get_major_locator()
    if not isinstance(formatter, LogFormatter) or not isinstance(locator, LogLocator):
        return  # linear, or the figure has ticks of its own
    low, high = sorted(axis.get_view_interval())
    if not 0 < low < high < 100 * low:
        return
    axis.set_minor_formatter(NullFormatter())
    if low >= 1e-3 and high < 1e5:
        axis.set_major_locator(LogLocator(subs=(1, 2, 5) if high < 12 * low else (1, 3)))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


class _Layout(ConstrainedLayoutEngine):
    """Constrained layout, rounded to 8 digits, as the solver's last ones differ by process."""

    def execute(self, fig: Figure) -> Any:
        grids = super().execute(fig)
        for part in fig.subfigs:
            part.bbox_relative.set_points(part.bbox_relative.get_points().round(8))
        for ax in fig.axes:
            placed = ax.get_in_layout()
            ax.set_position(Bbox(ax.get_position(original=True).get_points().round(8)))
            ax.set_in_layout(placed)  # set_position has taken it out
        return grids


def save(drawn: Figure, svg: Path, png: Path) -> None:
    """Write a figure as SVG and PNG without dates or versions, and close it."""
    for ax in drawn.axes:
        _readable(ax.xaxis)
        _readable(ax.yaxis)
    if isinstance(engine := drawn.get_layout_engine(), ConstrainedLayoutEngine):
        drawn.set_layout_engine(_Layout(**engine.get()))
    drawn.savefig(svg, format="svg", metadata={"Date": None, "Creator": None})
    drawn.savefig(png, format="png", metadata={"Software": None})
    plt.close(drawn)
