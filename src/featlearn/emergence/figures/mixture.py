"""Networks on the hypercube mixture: maps of weights and centres, coverage, signs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from featlearn.core.plots import COLOURS, canvas
from featlearn.core.publish import figure
from featlearn.core.statistical import history
from featlearn.emergence.figures.maps import hollow, panels
from featlearn.emergence.reading import rows

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SETTINGS = {
    "first": ("Experiment 1 (k = 4)", COLOURS["blue"]),
    "second": ("Experiment 2 (k = 4, d = 25)", COLOURS["green"]),
    "third": ("Experiment 3 (k = 5)", COLOURS["orange"]),
}
#: Marker and colour of a centre, by its label.
CENTRES = {1: ("*", "red"), -1: ("s", "ink")}


@figure("fig-a-12")
def mixture_maps(maps: pd.DataFrame) -> Figure:
    """Weights move to the centres of the clusters (Figure A.12)

    Classical multidimensional scaling by 1 - cosine of all weights with the centres, one replicate; a row for each experiment of Table A.6, its start, middle
    and end. Two dimensions of a map show little of a cube with four or five. *What to see,* as measured in
    the whole space: {{ said("emergence/mixture-covered", holds="at the end every centre has a neuron along it",
    fails="at the end some centre has no neuron along it") }}, by the cosine of the one that is worst off.
    """
    seen = {
        words: list(rows(maps, setting=setting).groupby("epoch"))
        for setting, (words, _) in SETTINGS.items()
    }
    drawn, axes = panels([[here for _, here in line] for line in seen.values()], foot=0.3, page=7.2)
    for line, (words, epochs) in zip(axes, seen.items(), strict=True):
        for ax, (epoch, here) in zip(line, epochs, strict=True):
            neurons = here[here["kind"] == 0]
            ax.plot(neurons["x"], neurons["y"], ".", color=COLOURS["blue"], markersize=3, alpha=0.4,
                    label="neuron")  # fmt: skip
            for label, (marker, colour) in CENTRES.items():
                hollow(ax, here[here["kind"] == label], marker, colour,
                       label=f"centre, label {label:+d}".replace("-", "−"))  # fmt: skip
            ax.set_xlabel(f"epoch {epoch}")
        line[0].set_title(words, fontsize=9)
    drawn.legend(*axes[0][0].get_legend_handles_labels(), loc="lower center", ncols=3)
    return drawn


@figure("mixture-signs")
def mixture_signs(values: pd.DataFrame, corners: pd.DataFrame) -> Figure:
    """Clusters on the cube: which are found, and with which sign

    Along the training, means of {{ value("table-a-6", "replicates", setting="first", quantity="sign") }}
    replicates with 95 % intervals. Left: cosine of the centre that is
    worst off with its best neuron. Middle: of the neurons near a centre (cosine above 0.8) the share
    whose output weight has the sign of the centre's label; the curve begins where there are any.
    Right: what the thesis says such a network is about, the sum of y_c ReLU(<c, x>) over all corners,
    at a corner labelled +1, in numbers that are exact. *What to see:* {{ said("emergence/mixture-covered", holds="every centre is found",
    fails="not every centre is found") }}, by the cosine of the one that is worst off. For k = 4 the sum on the right is negative, so that output weights need
    the opposite sign of the label; {{ said("emergence/mixture-signs", holds="they have that of the label",
    fails="they do not have that of the label") }}, by the share that has it. For k = 5 it is zero, and biases are needed.
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
    axes[2].axhline(0, color=COLOURS["ink"], linewidth=0.8)
    axes[2].vlines(corners["relevant"], 0, corners["value"], color=COLOURS["grey"])
    axes[2].plot(corners["relevant"], corners["value"], "o", color=COLOURS["blue"], markersize=4)
    for k, value in corners[["relevant", "value"]].to_numpy().tolist():
        axes[2].annotate(f"{value:g}".replace("-", "−"), (k, value), (0, 5 if value >= 0 else -5),
                         textcoords="offset points", ha="center", fontsize=8.5,
                         va="bottom" if value >= 0 else "top")  # fmt: skip
    axes[2].set(xlabel="directions (k)", ylabel="sum at a corner labelled +1",
                xticks=corners["relevant"])  # fmt: skip
    axes[2].margins(y=0.15)
    drawn.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return drawn
