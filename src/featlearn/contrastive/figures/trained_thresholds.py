"""Thresholds that gradient descent moves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from featlearn.contrastive.figures.shared import bar, level, lines, wide
from featlearn.core.plots import COLOURS, FILLS, PALETTE, canvas
from featlearn.core.publish import figure
from featlearn.core.stats import per_replicate

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TRAINED = {
    "masked": ("RandomMask", PALETTE["contrastive"]),
    "unmasked": ("no augmentation", PALETTE["contrastive, no augmentation"]),
}


@figure()
def trained_thresholds(history: pd.DataFrame, evaluation: pd.DataFrame) -> Figure:
    """Thresholds by gradient descent

    The paper's only synthetic experiment, told in a footnote: thresholds are parameters. *What to see:* with
    RandomMask they rise, neurons become singletons, and the probe beats linear; without augmentation
    thresholds fall below zero, where the activation is steeper around the origin.
    That descent raises the thresholds with RandomMask {{ verdict("contrastive/footnote-4-masked") }};
    that it lowers them without augmentation {{ verdict("contrastive/footnote-4-unmasked") }}; that the
    probe beats every linear predictor {{ verdict("contrastive/trained-thresholds-probe") }}.
    """
    drawn = canvas(8.2, 3.2)
    first, second, third = drawn.subplots(1, 3, width_ratios=[1.2, 1.2, 1])
    for ax, quantity in ((first, "bias_over_norm"), (second, "singletons")):
        for arm, (label, colour) in TRAINED.items():
            lines(ax, wide(history, "step", arm=arm, quantity=quantity), colour, label)
        ax.set_xlabel("step")
    first.axhline(0, color=COLOURS["ink"], linewidth=0.8, linestyle=":")
    first.set(title="Threshold", ylabel=r"$b/\|w\|$, mean over neurons")
    second.set(title="Singletons", ylabel="share of neurons")
    for x, (arm, (_, colour)) in enumerate(TRAINED.items()):
        bar(third, x, per_replicate(evaluation, model=arm, quantity="nmse"), colour)
    for name, label in (("linear", "best linear"), ("bayes", "Bayes floor")):
        at = level(third, evaluation, f"{name}-exact")
        third.annotate(label, (0.02, at), xycoords=("axes fraction", "data"), va="center",
                       fontsize=8, zorder=5, bbox={"facecolor": FILLS["white"], "linewidth": 0,
                                                   "pad": 1.5})  # fmt: skip
    third.set_xticks([])
    third.set(title="Probe", ylabel="NMSE")
    third.grid(axis="x", visible=False)
    drawn.legend(*first.get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return drawn
