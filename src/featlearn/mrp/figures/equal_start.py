"""The equal-start diagram. Reads frames, imports no torch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from featlearn.core.plots import PALETTE, canvas
from featlearn.core.publish import Config, figure
from featlearn.core.statistical import Look, interval, lines, share_interval
from featlearn.mrp.figures.keep_probability import FRAMEWORK_COLOURS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DOTTED, DASHED = (1, 1.65), (3.7, 1.6)
MODELS = {
    "supervised": Look("supervised, as trained", PALETTE["supervised"]),
    "supervised_head": Look("supervised, new head", PALETTE["supervised, new head"], "P", DASHED),
    "half_masked": Look("teacher-student", PALETTE["teacher-student"], "s"),
    "mostly_masked": Look("teacher-student", PALETTE["teacher-student"], "D", DASHED),
    "mae": Look("MAE", FRAMEWORK_COLOURS["MAE"], "^"),
    "random": Look("random kernels", PALETTE["random features"], "v", DOTTED),
}
PRETRAINED = ("half_masked", "mostly_masked", "mae")


@figure()
def equal_start(evaluation: pd.DataFrame, config: Config) -> Figure:
    """Equal starts: where teacher-student pre-training can help

    All models start from the same kernels, whose size grows from left to right: mean initial correlation
    of a feature's best kernel, in units of the threshold. One row for each number of kernels a class; means
    over replicates with 95 % intervals. Left: accuracy on single-view test data of a new head, trained to
    its optimum (supervised: also as it was trained). Middle: share of the kernels with a feature that hold
    several. Right: largest correlation when the last feature was captured. *What to see:*
    {{ said("mrp/t16-equal-start-lottery", holds="from a small start the supervised network plays its lottery, at an accuracy of",
            fails="from a small start the supervised network does not play its lottery, at an accuracy of",
            left="*left open whether* from a small start the supervised network plays its lottery, at an accuracy of") }}.
    {{ said("mrp/t8-lottery-excludes-clean-capture",
            holds="Wherever it is played, capture by teacher-student training is not clean: the least share of impure winners is",
            fails="Somewhere it is played and capture by teacher-student training is clean: the least share of impure winners is",
            left="*Left open whether* capture by teacher-student training is clean wherever it is played: the least share of impure winners is") }}.
    What teacher-student kernels are good for is told by the grey line, the same head on the random kernels of the start. From the
    smallest start (in brackets the difference in accuracy),
    {{ said("mrp/t15-equal-start-against-random", holds="they are better than that",
            fails="they are not better than that") }};
    {{ said("mrp/t15-equal-start-mae-against-random", holds="those of MAE are better",
            fails="those of MAE are not better") }}. (These data have hardly any noise; a linear classifier solves them.)
    """
    looks = dict(MODELS)
    for model, options in config["teacher_student"].items():
        words = rf"{looks[model].words}, $\theta={options['theta']}$"
        looks[model] = looks[model]._replace(words=words)
    pretrained = {model: looks[model] for model in PRETRAINED}
    counts = sorted(evaluation["kernels_per_class"].unique())
    drawn = canvas(8.2, 2.5 * len(counts) + 0.5)
    axes = drawn.subplots(len(counts), 3, sharex="col", squeeze=False)
    for row, kernels in zip(axes, counts, strict=True):
        own = evaluation[evaluation["kernels_per_class"] == kernels]
        start = own[own["quantity"] == "strength_over_varrho"].groupby("sigma_0")["value"].mean()
        own = own.assign(start=own["sigma_0"].map(start))
        for ax, quantity, shown, errorbar in (
            (row[0], "accuracy_single_view", looks, share_interval),
            (row[1], "impure_share", pretrained, share_interval),
            (row[2], "largest", pretrained, interval),
        ):
            lines(ax, own[own["quantity"] == quantity], "start", "model", looks=shown,
                  errorbar=errorbar)  # fmt: skip
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
