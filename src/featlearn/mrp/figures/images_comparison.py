"""Supervised training against pre-training without labels, drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from featlearn.core.plots import COLOURS, canvas
from featlearn.core.publish import figure
from featlearn.mrp.tables.images_comparison import STARTS, means

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

START_COLOURS = {
    "random-cnn": COLOURS["orange"],
    "simmim": COLOURS["blue"],
    "random-vit": COLOURS["orange"],
    "mae": COLOURS["green"],
    "data2vec": COLOURS["purple"],
    "beit": COLOURS["sky"],
}
ENCODERS = {"cnn": "convolutional network", "vit": "vision transformer"}
PANELS = {
    "multi_view": "all parts shown",
    "single_view": "one part shown",
    "worst_view": "the worse part alone",
}


@figure()
def images_comparison(comparison: pd.DataFrame) -> Figure:
    """Supervised training against pre-training without labels

    Accuracy on fresh pictures by the number of labelled training pictures; every bar is a 95 % interval
    over replicates, which differ in their parts, pictures and initial weights. From left to right: all
    parts of the class are shown; one part is shown and the others are faint; the part that the network
    recognises worse. Solid lines are networks trained with labels to the end, from a random start or
    from the weights that a method without labels gave; dotted lines are linear probes on frozen
    features. Both kinds of start see the same labelled pictures in the same order for the same number of
    steps. The paper's claim is that the blue line lies above the orange one where one part is shown.
    *What to see:* how far apart the middle panel is from the left one, which is the supervised lottery
    on pictures, and which starts close that gap.
    """
    encoders = [kind for kind in ENCODERS if kind in set(comparison["encoder"])]
    drawn = canvas(8.2, 2.9 * len(encoders) + 0.4)
    axes = drawn.subplots(len(encoders), len(PANELS), squeeze=False, sharey=True, sharex=True)
    entries: dict[str, Artist] = {}
    for row, kind in zip(axes, encoders, strict=True):
        own = comparison[comparison["encoder"] == kind]
        for ax, quantity in zip(row, PANELS, strict=True):
            _accuracies(ax, own[own["quantity"] == quantity])
        row[0].set_ylabel(f"{ENCODERS[kind]}\naccuracy on fresh images")
        handles, labels = row[0].get_legend_handles_labels()
        entries |= dict(zip(labels, handles, strict=True))
    for ax, title in zip(axes[0], PANELS.values(), strict=True):
        ax.set_title(title)
    for ax in axes[-1]:
        ax.set_xlabel("labelled training images")
    drawn.legend(list(entries.values()), list(entries), loc="outside lower center", ncols=4)
    return drawn


def _accuracies(ax: Axes, frame: pd.DataFrame) -> None:
    """Lines with 95 % intervals: fine-tuned solid, linear probe dashed."""
    for evaluation, style in (("fine-tuned", "-"), ("linear probe", ":")):
        for start, name in STARTS.items():
            own = frame[(frame["start"] == start) & (frame["evaluation"] == evaluation)]
            random_probe = start.startswith("random-") and evaluation != "fine-tuned"
            if own.empty:
                continue
            seen = means(own, ["labels", "quantity"]).sort_values("labels")
            label = name.partition(" (")[0]
            if random_probe:
                label = "random"
            ax.errorbar(
                seen["labels"],
                seen["mean"],
                yerr=seen["half_width"],
                color=COLOURS["grey"] if random_probe else START_COLOURS[start],
                linestyle=style,
                marker="o",
                markersize=3,
                capsize=2,
                label=f"{label}, probe" if evaluation == "linear probe" else label,
            )
    labels = sorted(frame["labels"].unique())
    ax.set_xscale("log")
    ax.set_xticks(labels, [str(count) for count in labels])
    ax.set_xticks([], minor=True)
    ax.set_ylim(0, 1.03)


@figure()
def images_pretraining(histories: pd.DataFrame) -> Figure:
    """Pre-training without labels: the loss

    Training loss over the epochs, one line a replicate, of each method on its own scale: SimMIM's mean
    absolute error of the masked pixels, MAE's squared error on normalised patches, data2vec's smooth
    absolute error against its teacher. *What to see:* losses that are still falling: on two cores these
    trainings are short.
    """
    methods = [start for start in STARTS if start in set(histories["method"])]
    drawn = canvas(2.7 * len(methods), 2.7)
    axes = drawn.subplots(1, len(methods), squeeze=False)[0]
    for ax, method in zip(axes, methods, strict=True):
        own = histories[histories["method"] == method]
        for _, one in own.groupby("replicate"):
            ax.plot(one["epoch"], one["loss"], color=START_COLOURS[method], linewidth=1)
        ax.set(title=STARTS[method], xlabel="epochs without labels")
        ax.set_ylim(0, None)
    axes[0].set_ylabel("training loss")
    return drawn
