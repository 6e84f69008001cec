"""Figure 6 of the paper: a sample as a row of patches, and the views that share no patch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.patches import FancyBboxPatch

from featlearn.core.plots import COLOURS, canvas

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Sixteen patches: four hold the sample's feature, the others noise.
FEATURE_PATCHES = (2, 5, 11, 14)
FIRST_VIEW = (0, 2, 3, 6, 8, 9, 14, 15)
PATCHES = 16
FILL = {"feature": COLOURS["blue"], "noise": "#C9C9C9", "masked": "white"}


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
        ax.text(place + 0.5, row + 0.42, text[kind], ha="center", va="center", fontsize=7,
                color=colour[kind])  # fmt: skip
    ax.text(-0.25, row + 0.42, title, ha="right", va="center", fontsize=9)


def sample_and_views() -> Figure:
    """One sample that shows the strong feature, and its positive pair."""
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
