"""The equal-start diagram. Reads frames, imports no torch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import pandas as pd

from featlearn.core.plots import COLOURS, canvas

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MODELS = {
    "supervised": ("o-", COLOURS["orange"], "supervised"),
    "half_masked": ("s-", COLOURS["blue"], r"teacher-student, $\theta={}$"),
    "mostly_masked": ("D--", COLOURS["sky"], r"teacher-student, $\theta={}$"),
    "mae": ("^-", COLOURS["green"], "MAE"),
    "random": ("v:", COLOURS["grey"], "random kernels, fine-tuned"),
}


def equal_start(table: pd.DataFrame, thetas: Mapping[str, float]) -> Figure:
    """Accuracy, purity and size of kernels over the start, a row for each number of kernels.

    ``thetas`` are the keep probabilities of the two teacher-student models.
    """
    counts = sorted(table["kernels_per_class"].unique())
    drawn = canvas(8.2, 2.5 * len(counts) + 0.5)
    axes = drawn.subplots(len(counts), 3, sharex="col", squeeze=False)
    for row, kernels in zip(axes, counts, strict=True):
        own = table[table["kernels_per_class"] == kernels]
        for model in MODELS:
            label = MODELS[model][2].format(thetas.get(model))
            _line(row[0], own, model, "accuracy_single_view", label)
        for model in ("half_masked", "mostly_masked", "mae"):
            _line(row[1], own, model, "impure_share")
            _line(row[2], own, model, "largest")
        row[0].set(ylabel=f"{kernels} kernels a class", ylim=(0, 1.03))
        row[0].yaxis.label.set_fontweight("bold")
        row[1].set(ylim=(-0.03, 1.03))
        row[2].set(yscale="log")
    for ax, title in zip(
        axes[0],
        ("Single-view accuracy", "Share of impure winners", "Largest correlation"),
        strict=True,
    ):
        ax.set_title(title)
    for ax in axes[-1]:
        ax.set_xlabel(r"start, mean $\Lambda^{(0)}_{i,l}\,/\,\varrho$")
    drawn.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3,
                 fontsize=8)  # fmt: skip
    return drawn


def _line(
    ax: Axes, table: pd.DataFrame, model: str, quantity: str, label: str | None = None
) -> None:
    start = table[table["quantity"] == "strength_over_varrho"].set_index("sigma_0")["mean"]
    chosen = table[(table["model"] == model) & (table["quantity"] == quantity)]
    style, colour, _ = MODELS[model]
    ax.errorbar(chosen["sigma_0"].map(start), chosen["mean"], chosen["half_width"], fmt=style,
                color=colour, markersize=4, elinewidth=0.9, label=label)  # fmt: skip
