"""The equal-start diagram. Reads frames, imports no torch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from featlearn.core.plots import COLOURS, canvas
from featlearn.core.publish import Config, figure
from featlearn.core.summary import summary
from featlearn.mrp.tables.equal_start import KEYS

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


@figure()
def equal_start(evaluation: pd.DataFrame, config: Config) -> Figure:
    """Equal starts: where teacher-student pre-training can help

    All models start from the same kernels, whose size grows from left to right: mean initial correlation
    of a feature's best kernel, in units of the threshold. One row for each number of kernels a class; means
    over replicates with 95 % intervals. Left: accuracy on single-view test data after fine-tuning
    (supervised: as trained). Middle: share of the kernels with a feature that hold several. Right:
    largest correlation when the last feature was captured. *What to see:* from a small start the supervised network plays its lottery, and MAE
    wins against it; teacher-student kernels are mixed and huge by the time the last feature is captured,
    and do worse than the supervised network. From a large start they come close to MAE, and with three kernels a class
    they beat the supervised network; but at no start is their capture clean.
    """
    table = summary(evaluation, KEYS)
    counts = sorted(table["kernels_per_class"].unique())
    drawn = canvas(8.2, 2.5 * len(counts) + 0.5)
    axes = drawn.subplots(len(counts), 3, sharex="col", squeeze=False)
    for row, kernels in zip(axes, counts, strict=True):
        own = table[table["kernels_per_class"] == kernels]
        for model in MODELS:
            theta = config["teacher_student"].get(model, {}).get("theta")
            label = MODELS[model][2].format(theta)
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
