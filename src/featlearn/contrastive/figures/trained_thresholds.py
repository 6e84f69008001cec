"""Thresholds that gradient descent moves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from featlearn.contrastive.figures.shared import bar, level, lines, wide
from featlearn.core.plots import COLOURS, PALETTE, canvas
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

    The paper's only synthetic experiment, told in a footnote: thresholds b are parameters. Thin lines and dots
    are replicates, thick lines and bars their means; w is a neuron's weight, NMSE the probe's mean squared error
    over the mean square of the response. *What to see:* with
    RandomMask thresholds rise, neurons become singletons, and the probe beats linear; without augmentation
    thresholds fall below zero, where the activation is steeper around the origin.
    That descent raises the thresholds with RandomMask, by their last value,
    {{ verdict("contrastive/footnote-4-masked") }}; that it lowers them without augmentation
    {{ verdict("contrastive/footnote-4-unmasked") }}; that the probe beats every linear predictor, by the ratio of
    their errors, {{ verdict("contrastive/trained-thresholds-probe") }}.
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
    for name, label in (("linear", "best\nlinear"), ("bayes", "Bayes\nfloor")):
        level(third, evaluation, f"{name}-exact", label)
    third.set_xticks([])
    third.set(title="Probe", ylabel="NMSE")
    third.grid(axis="x", visible=False)
    drawn.legend(*first.get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return drawn
