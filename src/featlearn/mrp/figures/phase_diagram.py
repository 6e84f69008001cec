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


@figure()
def phase_diagram(supervised: pd.DataFrame, pretrained: pd.DataFrame) -> Figure:
    """Where the supervised lottery is, and where not

    Accuracy on fresh single-view images, averaged over replicates, for supervised training (left) and
    for mask-reconstruction pre-training followed by fine-tuning (right), on one colour scale. Upwards,
    the initial kernels grow: the number is the largest initial correlation of a kernel with a feature,
    averaged over the features, in units of the threshold of the activation; on the left only the
    kernels of the feature's own class count, for only they can serve it. To the right, more of the
    training images show a single view. Both networks of a cell start from the same kernels and see the
    same images. A star marks cells in which most supervised runs had not fitted all their labels when
    they were stopped. *What to see:* the supervised lottery, the dark corner below left, needs both of
    the theory's assumptions: kernels that begin far below the threshold, and hardly any single-view
    training image. After pre-training all cells are right; where one falls a little short of 1, a
    kernel left the feature that it had captured for another one, which happens when the steps of
    gradient descent are large.
    """
    panels = {
        "Supervised": (supervised, "supervised", "supervised"),
        "Pre-trained, then fine-tuned": (pretrained, "finetuned", "pretrained"),
    }
    drawn = canvas(8.2, 3.5)
    axes = drawn.subplots(1, 2)
    for ax, (title, (frame, model, start)) in zip(axes, panels.items(), strict=True):
        cells = _means(frame, model, "accuracy_single_view")
        words = cells.map("{:.2f}".format)
        if model == "supervised":
            words += np.where(_means(frame, model, "converged") > 0.5, "", "*")
        ratio = _means(frame, start, "initial_ratio").mean(axis=1)
        named = cells.set_axis([f"{value:.2f}" for value in ratio]).rename(columns="{:g}".format)
        sns.heatmap(
            named, vmin=LOWEST, vmax=1, cmap="viridis",
            annot=words, fmt="", annot_kws={"fontsize": 9}, cbar=False, ax=ax,
        )  # fmt: skip
        ax.set(title=title, ylabel=None)
        ax.set_xlabel(r"single-view share of the training data, $\mu$")
        ax.tick_params(length=0, rotation=0)
    axes[0].set_ylabel(r"initial correlation / threshold, $\Lambda^{(0)}/\varrho$")
    bar = drawn.colorbar(axes[0].collections[0], ax=axes, pad=0.01, extend="min")
    bar.set_label("single-view accuracy")
    return drawn


def _means(frame: pd.DataFrame, model: str, quantity: str) -> pd.DataFrame:
    """Means over replicates: a row a sigma_0, smallest last, a column a share."""
    chosen = frame[(frame["model"] == model) & (frame["quantity"] == quantity)]
    means = chosen.pivot_table(index="sigma_0", columns="single_view_share", values="value")
    return means.sort_index(ascending=False)
