"""Figure 8 of the paper: the framework of the experiments on images, as blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.patches import FancyBboxPatch

from featlearn.core.plots import COLOURS, canvas

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Rows of the two branches.
ONLINE, TARGET = 2.0, 0.4
SHARED = "#E8EEF4"


def _block(ax: Axes, left: float, row: float, text: str, fill: str, width: float = 1.55) -> None:
    box = FancyBboxPatch(
        (left, row), width, 0.9, boxstyle="round,pad=0,rounding_size=0.08",
        facecolor=fill, edgecolor=COLOURS["ink"], linewidth=0.9,
    )  # fmt: skip
    ax.add_patch(box)
    ax.text(left + width / 2, row + 0.45, text, ha="center", va="center", fontsize=8)


def _arrow(ax: Axes, start: tuple[float, float], end: tuple[float, float]) -> None:
    ax.annotate("", end, start, arrowprops={"arrowstyle": "->", "color": COLOURS["ink"]})


def framework() -> Figure:
    """Two views, shared encoder and projection, a head on one branch, StopGrad on the other."""
    drawn = canvas(9.4, 3.2)
    ax = drawn.subplots()
    _block(ax, 0.0, 1.2, "image", "white", 0.95)
    for row, view in ((ONLINE, "view 1"), (TARGET, "view 2")):
        _arrow(ax, (0.95, 1.65), (1.45, row + 0.45))
        _block(ax, 1.45, row, view, "white", 0.95)
        _block(ax, 2.75, row, "encoder\n(ResNet)", SHARED)
        _block(ax, 4.65, row, "projection head\n(MLP)", SHARED)
        _arrow(ax, (2.4, row + 0.45), (2.75, row + 0.45))
        _arrow(ax, (4.3, row + 0.45), (4.65, row + 0.45))
    _block(ax, 6.55, ONLINE, "prediction head\n$z + E z$", "#FBE3C0")
    _block(ax, 8.45, ONLINE, "output norm\n(batch or l2)", "white")
    _block(ax, 6.55, TARGET, "output norm\n(batch or l2)", "white")
    _block(ax, 8.45, TARGET, "StopGrad", "#F6D5C8")
    for row in (ONLINE, TARGET):
        _arrow(ax, (6.2, row + 0.45), (6.55, row + 0.45))
        _arrow(ax, (8.1, row + 0.45), (8.45, row + 0.45))
        _arrow(ax, (10.0, row + 0.45), (10.6, 1.65))
    ax.text(10.68, 1.65, "loss", va="center", fontsize=9)
    ax.text(4.5, 1.65, "same weights, or a moving average below", ha="center", va="center",
            fontsize=8, color=COLOURS["grey"])  # fmt: skip
    ax.set(xlim=(-0.1, 11.2), ylim=(0.2, 3.1))
    ax.set_axis_off()
    return drawn
