"""Figures of the paper itself that are drawn, not measured."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from featlearn.core.drawing.plots import COLOURS, FILLS, canvas
from featlearn.core.run.exhibits import figure

#: Figure 6, sixteen patches: four hold the sample's feature, the others noise.
FEATURE_PATCHES = (2, 5, 11, 14)
FIRST_VIEW = (0, 2, 3, 6, 8, 9, 14, 15)
PATCHES = 16
#: Figure 8, rows of the two branches.
ONLINE, TARGET = 2.0, 0.4
SHARED, WIDE = FILLS["shared"], (1.55, 0.9)


def _box(
    ax: Axes, corner: tuple[float, float], size: tuple[float, float], text: str, fill: str,
    ink: str = COLOURS["ink"], **edge: Any,
) -> None:  # fmt: skip
    """A box with rounded corners around its text."""
    look: dict[str, Any] = {"edgecolor": COLOURS["ink"], "linewidth": 0.9} | edge
    style = "round,pad=0,rounding_size=0.1"
    ax.add_patch(FancyBboxPatch(corner, *size, boxstyle=style, facecolor=fill, **look))
    ax.text(corner[0] + size[0] / 2, corner[1] + size[1] / 2, text, ha="center", va="center",
            fontsize=8, color=ink)  # fmt: skip


def _strip(ax: Axes, row: float, kept: tuple[int, ...], title: str) -> None:
    for place in range(PATCHES):
        text, fill, ink = rf"$\xi_{{{place + 1}}}$", FILLS["noise"], COLOURS["ink"]
        if place not in kept:
            text, fill, ink = "0", FILLS["white"], COLOURS["grey"]
        elif place in FEATURE_PATCHES:
            text, fill, ink = r"$r\alpha_1 v_1$", COLOURS["blue"], FILLS["white"]
        _box(ax, (place + 0.08, row), (0.84, 0.84), text, fill, ink, edgecolor=COLOURS["grey"],
             linestyle="-" if place in kept else ":")  # fmt: skip
    ax.text(-0.25, row + 0.42, title, ha="right", va="center", fontsize=9)


@figure("fig-6", contains="drawn")
def sample_and_views() -> Figure:
    """Figure 6: the data and the two views

    *What to see:* the two positive views keep complementary halves of the patches, so their noise is independent.

    A schematic. A sample is a row of patches: a few hold its one feature, strong or weak, all with one sign; the others
    hold noise.
    """
    drawn = canvas(8.4, 2.7)
    ax = drawn.subplots()
    whole = tuple(range(PATCHES))
    second = tuple(p for p in whole if p not in FIRST_VIEW)
    _strip(ax, 2.9, whole, "sample $X$")
    _strip(ax, 1.3, FIRST_VIEW, "view $X^{(1)}$")
    _strip(ax, 0.1, second, "view $X^{(2)}$")
    ax.annotate("", (8, 2.25), (8, 2.8), arrowprops={"arrowstyle": "->", "color": COLOURS["ink"]})
    ax.text(8.2, 2.52, "a random half of the patches each, no patch in both", fontsize=8,
            va="center")  # fmt: skip
    legend = (
        "blue: feature patches, one feature and one sign $r=\\pm1$ a sample     "
        "grey: noise orthogonal to $v_1$, $v_2$     dotted: masked"
    )
    ax.text(0, -0.35, legend, fontsize=8, va="top")
    ax.set(xlim=(-2.2, PATCHES), ylim=(-0.9, 4))
    ax.set_axis_off()
    return drawn


def _arrow(ax: Axes, start: tuple[float, float], end: tuple[float, float]) -> None:
    ax.annotate("", end, start, arrowprops={"arrowstyle": "->", "color": COLOURS["ink"]})


@figure("fig-8", contains="drawn")
def framework() -> Figure:
    """Figure 8: the framework of the experiments on images

    *What to see:* the branches differ in the prediction head and the stopped gradient only.

    A schematic. The online branch (top) adds the prediction head, the target (below) stops the gradient. Target weights
    are the online ones or their moving average.
    """
    drawn = canvas(8.6, 3.0)
    ax = drawn.subplots()
    _box(ax, (0.0, 1.2), (0.95, 0.9), "image", "white")
    for row, view in ((ONLINE, "view 1"), (TARGET, "view 2")):
        _arrow(ax, (0.95, 1.65), (1.45, row + 0.45))
        _box(ax, (1.45, row), (0.95, 0.9), view, "white")
        _box(ax, (2.75, row), WIDE, "encoder\n(ResNet)", SHARED)
        _box(ax, (4.65, row), WIDE, "projection head\n(MLP)", SHARED)
        _arrow(ax, (2.4, row + 0.45), (2.75, row + 0.45))
        _arrow(ax, (4.3, row + 0.45), (4.65, row + 0.45))
    _box(ax, (6.55, ONLINE), WIDE, "prediction head\n$z + E z$", FILLS["online"])
    _box(ax, (8.45, ONLINE), WIDE, "output norm\n(batch or ℓ₂)", "white")
    _box(ax, (6.55, TARGET), WIDE, "output norm\n(batch or ℓ₂)", "white")
    _box(ax, (8.45, TARGET), WIDE, "StopGrad", FILLS["target"])
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
