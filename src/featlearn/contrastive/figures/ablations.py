"""The figure of the ablations: what each change does to the probe and to coverage."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from featlearn.contrastive.tables import ARMS
from featlearn.core.plots import COLOURS, canvas
from featlearn.core.rows import per_replicate
from featlearn.core.stats import estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def ablations(evaluation: pd.DataFrame) -> Figure:
    """A row an arm: NMSE over that of the best linear predictor, and the share of atoms covered."""
    arms = [arm for arm in ARMS if (evaluation["model"] == arm).any()]
    drawn = canvas(8.2, 0.6 + 0.27 * len(arms))
    left, right = drawn.subplots(1, 2, sharey=True, width_ratios=[1.6, 1])
    for row, arm in enumerate(arms):
        linear = per_replicate(evaluation, model=f"{arm}/linear-exact", quantity="nmse").mean()
        bayes = per_replicate(evaluation, model=f"{arm}/bayes-exact", quantity="nmse").mean()
        relative = per_replicate(evaluation, model=arm, quantity="nmse") / linear
        colour = COLOURS["blue"] if relative.mean() < 0.95 else COLOURS["orange"]
        if arm == "reference":
            colour = COLOURS["ink"]
        _row(left, row, relative, colour)
        left.plot([bayes / linear] * 2, [row - 0.4, row + 0.4], color=COLOURS["green"], linewidth=2)
        _row(right, row, per_replicate(evaluation, model=arm, quantity="covered"), colour)
    left.axvline(1, color=COLOURS["ink"], linewidth=0.9, linestyle="--")
    left.set_yticks(range(len(arms)), [ARMS[arm] for arm in arms])
    left.invert_yaxis()
    left.set(title="Probe: NMSE over the best linear one", xlim=(0, None))
    left.set_xlabel("1: no better than linear; green: Bayes floor of the arm's data")
    right.set(title="Atoms covered", xlim=(-0.03, 1.03))
    right.set_xlabel("share with a singleton")
    return drawn


def _row(ax: Axes, row: int, seen: np.ndarray, colour: str) -> None:
    mean = estimate(seen)
    ax.barh(row, mean.mean, 0.7, color=colour, alpha=0.85)
    spread = row + np.linspace(-0.2, 0.2, seen.size)
    ax.scatter(seen, spread, s=6, color=COLOURS["ink"], alpha=0.6, linewidths=0, zorder=3)
