"""Where opponents stop. Reads frames, imports no torch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from featlearn.core.plots import COLOURS, canvas
from featlearn.core.publish import Config, figure
from featlearn.core.statistical import Look, lines, share_interval
from featlearn.mrp.figures.headline import MODEL_COLOURS
from featlearn.mrp.tables.headline import LABELS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MARKS = {
    "raw_linear": "D",
    "random": "v",
    "supervised": "o",
    "supervised_head": "P",
    "pretrained": "^",
}


@figure()
def opponents(cells: pd.DataFrame, config: Config) -> Figure:
    """Where each opponent of mask reconstruction stops

    Accuracy on single-view test data as feature noise grows: every patch holds some of every feature, up
    to gamma. One panel for each number of patches; means over replicates with 95 % intervals; new heads
    are trained to their optimum. The dotted line is chance. *What to see:* with hardly any noise (left
    end) a linear classifier on the summed patches does as well as anything, and nothing can be said
    about features. In many patches the noise adds up: where a line falls, that opponent stops. At the
    largest noise (in brackets the lead in accuracy),
    {{ said("mrp/opponents-largest-noise", holds="mask reconstruction leads the best of them by more than at the headline's noise",
            fails="mask reconstruction leads the best of them by no more than at the headline's noise") }}.
    """
    looks = {
        model: Look(LABELS[model], MODEL_COLOURS[model], mark) for model, mark in MARKS.items()
    }
    counts = sorted(cells["patches"].unique())
    drawn = canvas(8.2, 3.6)
    axes = drawn.subplots(1, len(counts), sharey=True, squeeze=False)[0]
    chance = 1 / config["data"]["classes"]
    for ax, patches in zip(axes, counts, strict=True):
        own = cells[(cells["patches"] == patches) & (cells["quantity"] == "accuracy_single_view")]
        lines(ax, own, "feature_noise", "model", looks=looks, errorbar=share_interval)
        ax.axhline(chance, color=COLOURS["ink"], linewidth=0.8, linestyle=":")
        ax.set(ylim=(0, 1.05), xlabel=r"feature noise $\gamma$", title=f"{patches} patches")
    axes[0].set_ylabel("single-view accuracy")
    drawn.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2,
                 fontsize=8)  # fmt: skip
    return drawn
