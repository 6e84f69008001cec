"""Accuracy along the training, and maps of the weights in the first two steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import seaborn as sns

from featlearn.core.plots import COLOURS, canvas
from featlearn.core.publish import figure
from featlearn.core.statistical import share_interval
from featlearn.emergence.reading import rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: How the three trained arms are drawn.
ARMS = {
    "network": ("network", COLOURS["blue"]),
    "ntk": ("tangent kernel (NTK)", COLOURS["orange"]),
    "rf": ("random features", COLOURS["green"]),
}
#: Cells in words.
CELLS = {
    "parity": "Parity labels",
    "interval": "Interval labels",
    "negatives-80": "80 % negative",
    "negatives-90": "90 % negative",
    "samples-25000": "25,000 samples",
    "samples-10000": "10,000 samples, narrow",
}
MOMENTS = ("start", "after one step", "after two steps")
#: Neurons with an absolute cosine of so much after the second step are coloured.
NEAR = 0.9


@figure("fig-2-1", cells=("parity",), words="parity labels (Figure 2.1)")
@figure("fig-a-1", cells=("parity",), words="parity labels again (Figure A.1)")
@figure("fig-a-3", cells=("interval",), words="interval labels (Figure A.3)")
@figure("fig-a-5", cells=("parity",), words="every dimension of the input (Figure A.5)")
@figure("fig-a-7", cells=("negatives-80", "negatives-90"), words="unequal classes (Figure A.7)")
@figure("fig-a-9", cells=("samples-25000", "samples-10000"), words="sample sizes (Figure A.9)")
def accuracy_curves(values: pd.DataFrame, cells: tuple[str, ...], words: str) -> Figure:
    """Accuracy during training: {{ words }}

    Test accuracy of the network, of its Taylor model at the start (NTK) and of a head on random
    features, all from the same start and on the same samples; solid: with the structure of the
    inputs, dashed: with inputs of independent fair bits and the same labels. Means of the replicates
    with 95 % intervals. Dotted: the best threshold on the number of relevant patterns, which a linear
    classifier can be; grey: the more frequent label. The first two steps are full gradient steps.
    Where the dotted line is at the top, the labels do not need learned features. Training happens in
    the coordinates of the patterns, so that its accuracies are the same at every dimension of the
    input: the thesis' panels for d = 100 and 2000 are one.
    """
    drawn = canvas(1.2 + 3.9 * len(cells), 3.4)
    axes = drawn.subplots(1, len(cells), sharey=True, squeeze=False)[0]
    for ax, cell in zip(axes, cells, strict=True):
        own = rows(values, cell=cell)
        _curves(ax, own)
        ax.set(title=CELLS[cell], xlabel="step", ylabel="test accuracy", ylim=(0.3, 1.03))
    drawn.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return drawn


def _curves(ax: Axes, own: pd.DataFrame) -> None:
    for structured, dash in ((True, "-"), (False, "--")):
        for arm, (words, colour) in ARMS.items():
            curve = rows(own, structured=structured, arm=arm, quantity="test")
            curve = curve[curve["step"] > 0]
            sns.lineplot(
                curve, x="step", y="value", color=colour, linestyle=dash, ax=ax,
                label=words if structured else f"{words}, no structure", legend=False,
                errorbar=share_interval, err_kws={"linewidth": 0, "alpha": 0.2},
            )  # fmt: skip
    for arm, style in (("threshold", ":"), ("majority", "-.")):
        level = rows(own, structured=True, arm=arm)["value"].iloc[0]
        ax.axhline(level, color=COLOURS["grey" if arm == "majority" else "ink"], linestyle=style,
                   linewidth=1, label=f"{'best threshold' if arm == 'threshold' else arm}")  # fmt: skip


@figure("fig-2-2", panels=(("parity", 500),), words="parity labels (Figure 2.2)")
@figure("fig-a-2", panels=(("parity", 500),), words="parity labels (Figure A.2)")
@figure("fig-a-4", panels=(("interval", 500),), words="interval labels (Figure A.4)")
@figure(
    "fig-a-6", panels=(("parity", 100), ("parity", 2000)), words="d = 100 and 2000 (Figure A.6)"
)
@figure(
    "fig-a-8",
    panels=(("negatives-80", 500), ("negatives-90", 500)),
    words="unequal classes (Figure A.8)",
)
@figure(
    "fig-a-10",
    panels=(("samples-25000", 500), ("samples-10000", 500)),
    words="sample sizes (Figure A.10)",
)
def weight_maps(maps: pd.DataFrame, panels: tuple[tuple[str, int], ...], words: str) -> Figure:
    """Where the weights point: {{ words }}

    Classical multidimensional scaling of the neurons' weights by 1 - cosine, at the start and after
    the first two full steps; stars: the sum of the relevant patterns and its negative. Blue and
    orange: neurons with an absolute cosine above 0.9 with a star after the second step, the colour
    carried back. For each law two rows: the theory's step, which forgets the start, and below it
    one that keeps half of it. With the theory's step all weights are multiples of nearly the same
    vector after one step, so that the map collapses to two places; the gradual gathering that the
    thesis shows needs some of the start. One replicate. At scales with other dimensions the panels
    are of those that stand in their place.
    """
    kinds = {"practical": "theory's step", "partial_forget": "half is kept"}
    drawn = canvas(8.4, 2.6 * len(panels) * len(kinds))
    axes = drawn.subplots(len(panels) * len(kinds), 3, squeeze=False)
    # a scale may have other dimensions: the panel is of the one in the same place
    lines = iter(axes)
    for cell, wanted in panels:
        known = list(maps.loc[maps["cell"] == cell, "dimension"].unique())
        dimension = wanted if wanted in known else known[min((500, 100, 2000).index(wanted),
                                                             len(known) - 1)]  # fmt: skip
        for preset, kind in kinds.items():
            own = rows(maps, cell=cell, preset=preset, dimension=dimension)
            for moment, ax in enumerate(next(lines)):
                _map(ax, own, moment)
                ax.set_title(f"{CELLS[cell]}, d = {dimension}: {kind}" if moment == 0 else "",
                             fontsize=8.5)  # fmt: skip
                ax.set(xlabel=MOMENTS[moment], ylabel=None)
    return drawn


def _map(ax: Axes, own: pd.DataFrame, moment: int) -> None:
    last = rows(own, moment=2).set_index("point")["cosine"]
    here = rows(own, moment=moment)
    for low, high, colour in (
        (-NEAR, NEAR, COLOURS["grey"]),
        (NEAR, 2, COLOURS["blue"]),
        (-2, -NEAR, COLOURS["orange"]),
    ):
        side = last[(last > low) & (last <= high) & (last.index >= 0)].index
        shown = here[here["point"].isin(side)]
        # above the stars, on which the theory's step puts them
        ax.plot(shown["x"], shown["y"], ".", color=colour, markersize=3, alpha=0.5, zorder=3)
    for point, colour in ((-2, COLOURS["blue"]), (-1, COLOURS["orange"])):
        star = here[here["point"] == point]
        ax.plot(star["x"], star["y"], "*", color=colour, markersize=13, alpha=0.4,
                markeredgecolor=COLOURS["ink"], markeredgewidth=0.6)  # fmt: skip
    ax.set(xticks=[], yticks=[], aspect="equal", xlim=(-1.25, 1.25), ylim=(-1.25, 1.25))
