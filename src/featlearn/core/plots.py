"""One look for all figures, and files that are the same to the byte each time they are drawn."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Okabe-Ito colours: told apart by colour-blind readers and in grey print.
COLOURS = {
    "blue": "#0072B2",
    "orange": "#E69F00",
    "green": "#009E73",
    "red": "#D55E00",
    "purple": "#CC79A7",
    "sky": "#56B4E9",
    "grey": "#7F7F7F",
    "ink": "#222222",
}

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


def use_style() -> None:
    """Make the house style current. Called by :func:`canvas`; idempotent."""
    matplotlib.rcdefaults()
    matplotlib.rcParams.update(STYLE)


def canvas(width: float, height: float, **kwargs: object) -> Figure:
    """A figure of ``width`` x ``height`` inches in the house style."""
    use_style()
    return plt.figure(figsize=(width, height), **kwargs)  # type: ignore[arg-type]


def save(drawn: Figure, svg: Path, png: Path) -> None:
    """Write a figure as SVG and PNG without dates or versions, and close it."""
    drawn.savefig(svg, format="svg", metadata={"Date": None, "Creator": None})
    drawn.savefig(png, format="png", metadata={"Software": None})
    plt.close(drawn)
