"""What each change does to the probe and to coverage."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from featlearn.contrastive.figures.shared import bar, level, lines, wide
from featlearn.contrastive.tables.ablations import ARMS
from featlearn.core.plots import COLOURS, canvas
from featlearn.core.publish import Config, figure
from featlearn.core.stats import estimate, per_replicate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@figure()
def ablations(evaluation: pd.DataFrame) -> Figure:
    """One change at a time

    Every arm changes one thing in the reference and sees the same draws. Left, the probe's error over that of
    the best linear predictor of the arm's data; green marks are its Bayes floors. Right, the share of atoms
    with a singleton. Black: the reference; orange: no better than 5 % below linear. *What to see:* without the
    mask, or with two independent ones, the error is higher, and without thresholds nothing is gained.
    Thresholds that rise by themselves kill all neurons; thresholds that only follow the norm (kb = 0) do as well
    as the reference. The theory's decay is too strong at this size, thrice the noise too much for as many steps,
    the paper's width too small, and descent along the printed gradient ends with a dead network. A dictionary of
    spikes, which the masks hide from one view, is not learned at all.
    """
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


#: Arms that differ in the growth of the thresholds alone, and their colours.
GROWTH = {
    "no-growth": COLOURS["sky"],
    "reference": COLOURS["blue"],
    "faster-growth": COLOURS["green"],
    "fast-growth": COLOURS["orange"],
    "printed-schedule": COLOURS["red"],
}


@figure()
def threshold_growth(history: pd.DataFrame, evaluation: pd.DataFrame, config: Config) -> Figure:
    """The printed schedule of the thresholds kills every neuron

    Thresholds grow by a factor of at least 1 + kb η / d a step; the paper prints kb = 1. *What to see:* then no
    neuron fires at the end
    ({{ value("ablations", model="printed-schedule", quantity="alive") | percent }} alive): by the closed form an
    atom outgrows its threshold only if kb is below about 0.2. The proof multiplies the whole of alpha − b
    by a growth factor where only the first term grows.
    """
    rates = {
        arm: config["arms"][arm].get("thresholds", {}).get("rate", config["thresholds"]["rate"])
        for arm in GROWTH
        if arm in config["arms"]
    }
    drawn = canvas(8.2, 3.2)
    axes = drawn.subplots(1, 3)
    for ax, quantity in zip(axes[:2], ("alive", "covered"), strict=True):
        for arm, rate in rates.items():
            seen = wide(history, "step", arm=arm, quantity=quantity)
            label = f"kb = {rate:g}" + (", as printed" if rate == 1 else "")
            lines(ax, seen, GROWTH[arm], label)
        ax.set(xlabel="step", ylim=(-0.03, 1.05))
    axes[0].set(title="Neurons alive", ylabel="share that fires at all")
    axes[1].set(title="Atoms covered", ylabel="share with a singleton")
    for x, arm in enumerate(rates):
        bar(axes[2], x, per_replicate(evaluation, model=arm, quantity="nmse"), GROWTH[arm])
    linear = level(axes[2], evaluation, "reference/linear-exact")
    axes[2].annotate("best linear", (-0.45, linear), ha="left", va="bottom", fontsize=8)
    axes[2].set_xticks(range(len(rates)), [f"{rate:g}" for rate in rates.values()])
    axes[2].set(title="Probe at the end", xlabel="kb", ylabel="NMSE")
    axes[2].grid(axis="x", visible=False)
    drawn.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=5)
    return drawn
