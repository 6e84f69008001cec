"""How the phase diagram of single-view accuracy is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import seaborn as sns

from featlearn.core.plots import canvas
from featlearn.core.publish import figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Chance is far below, so the scale begins where the lottery of the theory ends.
LOWEST = 0.5


#: Panels: the frame, the model, and the model whose start is told.
PANELS = {
    "Supervised, as trained": ("supervised", "supervised", "supervised"),
    "Supervised + new head": ("supervised", "supervised_head", "supervised"),
    "Summed raw patches": ("pretrained", "raw_linear", "pretrained"),
    "Random kernels + new head": ("pretrained", "random", "pretrained"),
    "Mask rec. + new head": ("pretrained", "pretrained", "pretrained"),
}


@figure()
def phase_diagram(supervised: pd.DataFrame, pretrained: pd.DataFrame) -> Figure:
    """Where the supervised lottery is, and where not

    Accuracy on fresh single-view images, averaged over replicates, on one colour scale: of the
    supervised network as it was trained and with a new head, of a linear classifier on the summed
    patches, and of a new head on the kernels of the start and on those of mask reconstruction. New
    heads are trained to their optimum, with a penalty that validation data chose. Upwards,
    the initial kernels grow: the number is the largest initial correlation of a kernel with a feature,
    averaged over the features, in units of the threshold of the activation; for supervised networks
    only the kernels of the feature's own class count, for only they can serve it. To the right, more of
    the training images show a single view. All networks of a cell start from the same kernels and see
    the same images. A star, where there is one, marks a cell in which most supervised runs had not fitted all
    their labels when they were stopped. *What to see:*
    {{ said("mrp/t16-phase-lottery", holds="the supervised lottery is the dark corner below left, at an accuracy of",
            fails="there is no supervised lottery in the corner below left, at an accuracy of") }}; it needs both of the theory's
    assumptions, kernels that begin far below the threshold and hardly any single-view training image. It is a statement about features and not about what these data need: feature noise
    is small here, so that a linear classifier of the raw patches does it too. Where it does not is in
    `opponents` and `headline`.
    """
    frames = {"supervised": supervised, "pretrained": pretrained}
    drawn = canvas(8.2, 6.0)
    axes = drawn.subplots(2, 3).flat
    for ax, (title, (name, model, start)) in zip(axes, PANELS.items(), strict=False):
        frame = frames[name]
        cells = _means(frame, model, "accuracy_single_view")
        words = cells.map("{:.2f}".format)
        if model == "supervised":
            words += np.where(_means(frame, model, "converged") > 0.5, "", "*")
        ratio = _means(frame, start, "initial_ratio").mean(axis=1)
        named = cells.set_axis([f"{value:.2f}" for value in ratio]).rename(columns="{:g}".format)
        sns.heatmap(
            named, vmin=LOWEST, vmax=1, cmap="viridis",
            annot=words, fmt="", annot_kws={"fontsize": 8}, cbar=False, ax=ax,
        )  # fmt: skip
        ax.set(title=title, ylabel=None, xlabel=None)
        ax.tick_params(length=0, rotation=0)
    drawn.supxlabel(r"single-view share of the training data, $\mu$", fontsize=9)
    drawn.supylabel(r"initial correlation / threshold, $\Lambda^{(0)}/\varrho$", fontsize=9)
    spare = drawn.axes[len(PANELS)]
    spare.set_axis_off()
    bar = drawn.colorbar(
        drawn.axes[0].collections[0], cax=spare.inset_axes((0.05, 0.05, 0.12, 0.9)), extend="min"
    )
    bar.set_label("single-view accuracy")
    return drawn


def _means(frame: pd.DataFrame, model: str, quantity: str) -> pd.DataFrame:
    """Means over replicates: a row a sigma_0, smallest last, a column a share."""
    chosen = frame[(frame["model"] == model) & (frame["quantity"] == quantity)]
    means = chosen.pivot_table(index="sigma_0", columns="single_view_share", values="value")
    return means.sort_index(ascending=False)
