"""What an encoder brings to new classes and to detection, drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from featlearn.core.plots import COLOURS, canvas
from featlearn.core.publish import figure
from featlearn.mrp.tables.images_comparison import HEADS, means
from featlearn.mrp.tables.images_transfer import task_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

METHOD_COLOURS = {
    "from scratch": COLOURS["grey"],
    "supervised": COLOURS["orange"],
    "SimMIM": COLOURS["sky"],
    "SimMIM, then labels": COLOURS["blue"],
}


@figure()
def images_transfer(transfer: pd.DataFrame, detection: pd.DataFrame) -> Figure:
    """What an encoder brings to new classes and to detection

    Left: fine-tuned with few labels to classes that are made of parts of the old ones. Right: average
    precision of Faster R-CNN on the same encoder, at overlaps of 0.5 and 0.75. Bars are means over
    replicates with 95 % intervals, dots are replicates. The encoder had a random start, was trained on
    the old classes with all labels, by SimMIM without any, or by SimMIM and then with all labels. These
    are the tasks of the second and third column of the paper's Table 1. *What to see:* whether dark blue,
    which had the same labels, is above orange. Where the grey bar, a random start, is nearly as
    high as the others, the detector is still at its floor: it had too few steps to compare encoders.
    """
    sets = list(dict.fromkeys(transfer["classes"]))
    drawn = canvas(8.2, 3.1)
    left, right = drawn.subplots(1, 2, width_ratios=[len(sets) * 2, 2], sharey=True)
    groups = [(one, quantity) for one in sets for quantity in ("multi_view", "single_view")]
    values = [
        transfer[(transfer["classes"] == one) & (transfer["quantity"] == quantity)]
        for one, quantity in groups
    ]
    names = [
        f"{task_name(one)}\n{HEADS[quantity]}".replace(", ", ",\n") for one, quantity in groups
    ]
    _bars(left, values, names)
    left.set(title="Fine-tuned to other classes", ylabel="accuracy or average precision")
    precisions = [detection[detection["quantity"] == name] for name in ("ap50", "ap75")]
    _bars(right, precisions, ["AP50", "AP75"])
    right.set_title("Detection in scenes")
    handles, labels = left.get_legend_handles_labels()
    drawn.legend(handles, labels, loc="outside lower center", ncols=4, title="encoder before")
    return drawn


def _bars(ax: Axes, groups: Sequence[pd.DataFrame], names: Sequence[str]) -> None:
    """Grouped bars with intervals and a dot a replicate."""
    width = 0.8 / len(METHOD_COLOURS)
    for number, (method, colour) in enumerate(METHOD_COLOURS.items()):
        for place, group in enumerate(groups):
            own = group[group["method"] == method]["value"].to_numpy()
            x = place + (number - (len(METHOD_COLOURS) - 1) / 2) * width
            seen = means(group[group["method"] == method], ["method", "quantity"]).iloc[0]
            ax.bar(x, seen["mean"], width * 0.92, color=colour, label=None if place else method)
            ax.errorbar(x, seen["mean"], seen["half_width"], color=COLOURS["ink"], capsize=2, lw=1)
            ax.plot(np.full(len(own), x), own, ".", color=COLOURS["ink"], markersize=3, alpha=0.6)
    ax.set_xticks(range(len(groups)), names, fontsize=7.5)
    ax.set_ylim(0, 1.05)
    ax.grid(axis="x", visible=False)
