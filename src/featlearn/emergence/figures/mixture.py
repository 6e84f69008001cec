"""Networks on the hypercube mixture: maps of weights and centres, coverage, signs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from featlearn.core.plots import COLOURS, canvas
from featlearn.core.publish import figure
from featlearn.core.statistical import history
from featlearn.emergence.reading import rows

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SETTINGS = {
    "first": ("Experiment 1 (k = 4)", COLOURS["blue"]),
    "second": ("Experiment 2 (k = 4, d = 25)", COLOURS["green"]),
    "third": ("Experiment 3 (k = 5)", COLOURS["orange"]),
}


@figure("fig-a-12")
def mixture_maps(maps: pd.DataFrame) -> Figure:
    """Weights move to the centres of the clusters (Figure A.12)

    Classical multidimensional scaling by 1 - cosine of all weights (blue) with the centres (red:
    label +1, orange: -1), one replicate; a row for each experiment of Table A.6, its start, middle
    and end. Two dimensions of a map show little of a cube with four or five. *What to see,* as measured in
    the whole space: {{ said("emergence/mixture-covered", holds="at the end every centre has a neuron along it",
    fails="at the end some centre has no neuron along it") }}, by the cosine of the one that is worst off.
    """
    drawn = canvas(8.4, 8.2)
    axes = drawn.subplots(3, 3)
    for line, (setting, (words, _)) in zip(axes, SETTINGS.items(), strict=True):
        own = rows(maps, setting=setting)
        for ax, (epoch, here) in zip(line, own.groupby("epoch"), strict=True):
            for kind, marker, size, colour in ((1, "*", 11, "red"), (-1, "*", 11, "orange"),
                                               (0, ".", 3, "blue")):  # fmt: skip
                shown = here[here["kind"] == kind]
                ax.plot(shown["x"], shown["y"], marker, color=COLOURS[colour], markersize=size,
                        alpha=0.4 if kind == 0 else 0.9, markeredgewidth=0.4,
                        markeredgecolor=COLOURS["blue" if kind == 0 else "ink"])  # fmt: skip
            ax.set(xticks=[], yticks=[], aspect="equal", xlim=(-1.25, 1.25), ylim=(-1.25, 1.25),
                   xlabel=f"epoch {epoch}")  # fmt: skip
        line[0].set_title(words, fontsize=9)
    return drawn


@figure("mixture-signs")
def mixture_signs(values: pd.DataFrame, corners: pd.DataFrame) -> Figure:
    """Every cluster is found, with a sign that the thesis did not expect

    Along the training, means of the replicates with 95 % intervals. Left: cosine of the centre that is
    worst off with its best neuron. Middle: of the neurons near a centre (cosine above 0.8) the share
    whose output weight has the sign of the centre's label; the curve begins where there are any.
    Right: what the thesis says such a network is about, the sum of y_c ReLU(<c, x>) over all corners,
    at a corner labelled +1. *What to see:* {{ said("emergence/mixture-covered", holds="every centre is found",
    fails="not every centre is found") }}. For k = 4 the sum on the right is negative, so that output weights need
    the opposite sign of the label; {{ said("emergence/mixture-signs", holds="they have that of the label",
    fails="they do not have that of the label") }}. For k = 5 it is zero, and biases are needed.
    """
    drawn = canvas(8.6, 3.3)
    axes = drawn.subplots(1, 3)
    for ax, quantity, words in (
        (axes[0], "worst", "worst centre's best cosine"),
        (axes[1], "sign", "share with the label's sign"),
    ):
        for setting, (name, colour) in SETTINGS.items():
            own = values[(values["setting"] == setting) & (values["quantity"] == quantity)]
            history(ax, own, name, colour, x="epoch", marker=".")
        ax.set(xlabel="epoch", ylabel=words, ylim=(-0.03, 1.03))
    colours = [COLOURS["red" if value < 0 else "sky"] for value in corners["value"]]
    axes[2].bar(corners["relevant"], corners["value"], color=colours)
    axes[2].axhline(0, color=COLOURS["ink"], linewidth=0.8)
    axes[2].set(xlabel="directions (k)", ylabel="sum at a corner labelled +1", xticks=range(1, 9))
    axes[2].set_yscale("symlog", linthresh=1)
    drawn.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return drawn
