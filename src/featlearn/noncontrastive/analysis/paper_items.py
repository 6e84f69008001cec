"""Figures of the paper itself that are drawn, not measured."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.patches import FancyBboxPatch

from featlearn.core.plots import COLOURS, FILLS, canvas
from featlearn.core.publish import figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Figure 6, sixteen patches: four hold the sample's feature, the others noise.
FEATURE_PATCHES = (2, 5, 11, 14)
FIRST_VIEW = (0, 2, 3, 6, 8, 9, 14, 15)
PATCHES = 16
FILL = {"feature": COLOURS["blue"], "noise": FILLS["noise"], "masked": FILLS["white"]}
#: Figure 8, rows of the two branches.
ONLINE, TARGET = 2.0, 0.4
SHARED = FILLS["shared"]


def _strip(ax: Axes, row: float, kept: tuple[int, ...], title: str) -> None:
    for place in range(PATCHES):
        kind = "feature" if place in FEATURE_PATCHES else "noise"
        kind = kind if place in kept else "masked"
        box = FancyBboxPatch(
            (place + 0.08, row), 0.84, 0.84, boxstyle="round,pad=0,rounding_size=0.12",
            facecolor=FILL[kind], edgecolor=COLOURS["grey"], linewidth=0.8,
            linestyle=":" if kind == "masked" else "-",
        )  # fmt: skip
        ax.add_patch(box)
        text = {"feature": r"$r\alpha_1 v_1$", "noise": rf"$\xi_{{{place + 1}}}$", "masked": "0"}
        colour = {"feature": "white", "noise": COLOURS["ink"], "masked": COLOURS["grey"]}
        ax.text(place + 0.5, row + 0.42, text[kind], ha="center", va="center", fontsize=8,
                color=colour[kind])  # fmt: skip
    ax.text(-0.25, row + 0.42, title, ha="right", va="center", fontsize=9)


@figure("fig-6", contains="drawn")
def sample_and_views() -> Figure:
    """Figure 6: the data and the two views

    *What to see:* the two positive views keep complementary halves of the patches, so their noise is independent.

    A schematic. A sample is a row of patches: a few hold its one feature, strong or weak, all with one sign; the
    others hold noise orthogonal to both features.
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


def _block(ax: Axes, left: float, row: float, text: str, fill: str, width: float = 1.55) -> None:
    box = FancyBboxPatch(
        (left, row), width, 0.9, boxstyle="round,pad=0,rounding_size=0.08",
        facecolor=fill, edgecolor=COLOURS["ink"], linewidth=0.9,
    )  # fmt: skip
    ax.add_patch(box)
    ax.text(left + width / 2, row + 0.45, text, ha="center", va="center", fontsize=8)


def _arrow(ax: Axes, start: tuple[float, float], end: tuple[float, float]) -> None:
    ax.annotate("", end, start, arrowprops={"arrowstyle": "->", "color": COLOURS["ink"]})


@figure("fig-8", contains="drawn")
def framework() -> Figure:
    """Figure 8: the framework of the experiments on images

    *What to see:* the branches differ in the prediction head and the stopped gradient only.

    A schematic. Two views pass one encoder and projection head; the online branch (top) adds the prediction head, the
    target (below) stops the gradient. Target weights are the online ones or their moving average.
    """
    drawn = canvas(8.6, 3.0)
    ax = drawn.subplots()
    _block(ax, 0.0, 1.2, "image", "white", 0.95)
    for row, view in ((ONLINE, "view 1"), (TARGET, "view 2")):
        _arrow(ax, (0.95, 1.65), (1.45, row + 0.45))
        _block(ax, 1.45, row, view, "white", 0.95)
        _block(ax, 2.75, row, "encoder\n(ResNet)", SHARED)
        _block(ax, 4.65, row, "projection head\n(MLP)", SHARED)
        _arrow(ax, (2.4, row + 0.45), (2.75, row + 0.45))
        _arrow(ax, (4.3, row + 0.45), (4.65, row + 0.45))
    _block(ax, 6.55, ONLINE, "prediction head\n$z + E z$", FILLS["online"])
    _block(ax, 8.45, ONLINE, "output norm\n(batch or ℓ₂)", "white")
    _block(ax, 6.55, TARGET, "output norm\n(batch or ℓ₂)", "white")
    _block(ax, 8.45, TARGET, "StopGrad", FILLS["target"])
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
