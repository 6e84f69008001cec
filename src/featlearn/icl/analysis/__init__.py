"""Figures, tables and claims of this paper, a module an experiment. Imports no torch.

Here are lines of the means of few replicates, which are drawn as well, and models by size.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import cycle
from typing import Any

import pandas as pd
from matplotlib.axes import Axes

from featlearn.core.drawing.intervals import FEW, Look, lines, share_interval
from featlearn.core.drawing.plots import COLOURS

LOOKED = (("sky", "o"), ("green", "s"), ("orange", "^"), ("red", "D"), ("purple", "v"))


def lines_and_points(
    ax: Axes, frame: pd.DataFrame, x: str, hue: str, *, looks: Mapping[Any, Look],
    value: str = "value", aside: float = 0.0, **further: Any,
) -> None:  # fmt: skip
    """:func:`featlearn.core.drawing.intervals.lines`, and a dot a replicate where they are few.

    ``aside``: distance between neighbouring lines on a linear axis, in units of ``x``.
    """
    places = {key: aside * (place - (len(looks) - 1) / 2) for place, key in enumerate(looks)}
    shown = frame[frame[hue].isin(list(looks))]
    shown = shown.assign(**{x: shown[x] + shown[hue].map(places)})
    lines(ax, shown, x, hue, looks=looks, value=value, **further)
    if shown["replicate"].nunique() <= FEW:
        ax.plot(shown[x], shown[value], "o", color=COLOURS["ink"], markersize=2.4, alpha=0.6,
                markeredgewidth=0, zorder=3)  # fmt: skip


def looks(frame: pd.DataFrame) -> dict[str, Look]:
    """Of the models, from small to large: a config does not keep an order."""
    names = list(dict.fromkeys(frame.sort_values("parameters", kind="stable")["model"]))
    return {name: Look(name, COLOURS[colour], marker)
            for name, (colour, marker) in zip(names, cycle(LOOKED), strict=False)}  # fmt: skip


def flipped(ax: Axes, frame: pd.DataFrame, named: Mapping[str, Look]) -> None:
    """Accuracies by share of noise: models, chance, and a Bayesian if the frame has it."""
    lines_and_points(ax, frame, "share", "model", looks=named, aside=0.02, errorbar=share_interval)
    if "bayes" in frame:
        mean = frame.groupby("share")["bayes"].mean()
        ax.plot(mean.index, mean, "x", color=COLOURS["ink"], markersize=7, label="Bayes")
    ax.axhline(0.5, color=COLOURS["grey"], linestyle="--", linewidth=1)
    ax.set(ylim=(-0.03, 1.03))
