"""Figures of the downstream tasks: every representation against linear and Bayes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from featlearn.contrastive.figures.bars import bar
from featlearn.core.plots import COLOURS, canvas
from featlearn.core.rows import per_replicate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MODELS = {
    "raw": ("raw\nsamples", COLOURS["grey"]),
    "initial": ("random\nweights", COLOURS["grey"]),
    "unmasked": ("no augm.", COLOURS["orange"]),
    "zero-thresholds": ("mask,\nb = 0", COLOURS["sky"]),
    "masked": ("mask, b\nraised", COLOURS["blue"]),
    "bayes": ("Bayes\nestimate", COLOURS["green"]),
}


def downstream(evaluation: pd.DataFrame) -> Figure:
    """Error of the regression and accuracy of the classification, a bar a representation."""
    drawn = canvas(8.2, 3.4)
    left, right = drawn.subplots(1, 2)
    for ax, quantity, title in (
        (left, "nmse", "Regression: NMSE, lower is better"),
        (right, "accuracy", "Classification: accuracy"),
    ):
        for x, (model, (_, colour)) in enumerate(MODELS.items()):
            bar(ax, x, per_replicate(evaluation, model=model, quantity=quantity), colour)
        ax.set_xticks(range(len(MODELS)), [label for label, _ in MODELS.values()], fontsize=8)
        ax.grid(axis="x", visible=False)
        ax.set_title(title)
    exact = {
        name: per_replicate(evaluation, model=f"{name}-exact", quantity="nmse").mean()
        for name in ("linear", "bayes")
    }
    _line(left, exact["linear"], "best linear predictor")
    _line(left, exact["bayes"], "Bayes floor")
    left.set_ylabel("error / mean square of the response")
    right.set(ylim=(0.5, 1.0), ylabel="share of samples that are right")
    return drawn


def _line(ax: Axes, at: float, label: str) -> None:
    ax.axhline(at, color=COLOURS["ink"], linewidth=0.9, linestyle="--", zorder=4)
    ax.annotate(label, (0.995, at), xycoords=("axes fraction", "data"), ha="right", va="bottom",
                fontsize=8)  # fmt: skip


LABEL_MODELS = {
    "unmasked": ("no augmentation", COLOURS["orange"]),
    "masked": ("RandomMask, thresholds raised", COLOURS["blue"]),
}


def labels(frame: pd.DataFrame, evaluation: pd.DataFrame) -> Figure:
    """Error and accuracy of the probe over the number of labelled samples."""
    drawn = canvas(8.2, 3.0)
    left, right = drawn.subplots(1, 2)
    for ax, quantity in ((left, "nmse"), (right, "accuracy")):
        for model, (label, colour) in LABEL_MODELS.items():
            own = frame[(frame["model"] == model) & (frame["quantity"] == quantity)]
            wide = own.pivot_table(index="labels", columns="replicate", values="value")
            ax.plot(wide.index, wide.to_numpy(), color=colour, linewidth=0.5, alpha=0.35)
            ax.plot(wide.index, wide.mean(axis=1), "o-", color=colour, markersize=3.5, label=label)
        counts = sorted(frame["labels"].unique())
        ax.set(xscale="log", xlabel="labelled samples")
        ax.set_xticks(counts, [str(count) for count in counts])
        ax.set_xticks([], minor=True)
    for name, words in (("linear", "best linear predictor"), ("bayes", "Bayes floor")):
        _line(left, per_replicate(evaluation, model=f"{name}-exact", quantity="nmse").mean(), words)
    left.set(title="Regression", ylabel="NMSE", ylim=(0, None))
    right.set(title="Classification", ylabel="accuracy")
    right.legend(loc="lower right")
    return drawn
