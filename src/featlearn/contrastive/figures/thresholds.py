"""Figures of the thresholds: trained by gradient descent, and raised too fast."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from featlearn.contrastive.figures.bars import bar
from featlearn.core.plots import COLOURS, canvas
from featlearn.core.rows import per_replicate

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TRAINED = {
    "masked": ("RandomMask", COLOURS["blue"]),
    "unmasked": ("no augmentation", COLOURS["orange"]),
}


def trained(history: pd.DataFrame, evaluation: pd.DataFrame) -> Figure:
    """Thresholds that gradient descent moves, singletons, and the probe at the end."""
    drawn = canvas(8.2, 3.2)
    first, second, third = drawn.subplots(1, 3, width_ratios=[1.2, 1.2, 1])
    for ax, quantity in ((first, "bias_over_norm"), (second, "singletons")):
        for arm, (label, colour) in TRAINED.items():
            own = history[(history["arm"] == arm) & (history["quantity"] == quantity)]
            wide = own.pivot_table(index="step", columns="replicate", values="value")
            ax.plot(wide.index, wide.to_numpy(), color=colour, linewidth=0.5, alpha=0.35)
            ax.plot(wide.index, wide.mean(axis=1), color=colour, linewidth=1.8, label=label)
        ax.set_xlabel("step")
    first.axhline(0, color=COLOURS["ink"], linewidth=0.8, linestyle=":")
    first.set(title="Threshold", ylabel=r"$b/\|w\|$, mean over neurons")
    second.set(title="Singletons", ylabel="share of neurons")
    for x, (arm, (_, colour)) in enumerate(TRAINED.items()):
        bar(third, x, per_replicate(evaluation, model=arm, quantity="nmse"), colour)
    for name, label in (("linear", "best linear"), ("bayes", "Bayes floor")):
        at = per_replicate(evaluation, model=f"{name}-exact", quantity="nmse").mean()
        third.axhline(at, color=COLOURS["ink"], linewidth=0.9, linestyle="--", zorder=4)
        third.annotate(label, (0.99, at), xycoords=("axes fraction", "data"), ha="right",
                       va="bottom", fontsize=7.5, zorder=5)  # fmt: skip
    third.set_xticks([])
    third.set(title="Probe", ylabel="NMSE")
    third.grid(axis="x", visible=False)
    drawn.legend(*first.get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return drawn


#: Arms that differ in the growth of the thresholds alone, and their colours.
GROWTH = {
    "no-growth": COLOURS["sky"],
    "reference": COLOURS["blue"],
    "faster-growth": COLOURS["green"],
    "fast-growth": COLOURS["orange"],
    "printed-schedule": COLOURS["red"],
}


def growth(history: pd.DataFrame, evaluation: pd.DataFrame, config: Mapping[str, Any]) -> Figure:
    """Neurons that still fire, over the steps, for several growth rates of the thresholds."""
    rates = {
        arm: config["arms"][arm].get("thresholds", {}).get("rate", config["thresholds"]["rate"])
        for arm in GROWTH
        if arm in config["arms"]
    }
    drawn = canvas(8.2, 3.2)
    axes = drawn.subplots(1, 3)
    for ax, quantity in zip(axes[:2], ("alive", "covered"), strict=True):
        for arm, rate in rates.items():
            own = history[(history["arm"] == arm) & (history["quantity"] == quantity)]
            wide = own.pivot_table(index="step", columns="replicate", values="value")
            label = f"kb = {rate:g}" + (", as printed" if rate == 1 else "")
            ax.plot(wide.index, wide.to_numpy(), color=GROWTH[arm], linewidth=0.5, alpha=0.35)
            ax.plot(wide.index, wide.mean(axis=1), color=GROWTH[arm], linewidth=1.8, label=label)
        ax.set(xlabel="step", ylim=(-0.03, 1.05))
    axes[0].set(title="Neurons alive", ylabel="share that fires at all")
    axes[1].set(title="Atoms covered", ylabel="share with a singleton")
    for x, arm in enumerate(rates):
        bar(axes[2], x, per_replicate(evaluation, model=arm, quantity="nmse"), GROWTH[arm])
    linear = per_replicate(evaluation, model="reference/linear-exact", quantity="nmse").mean()
    axes[2].axhline(linear, color=COLOURS["ink"], linewidth=0.9, linestyle="--", zorder=4)
    axes[2].annotate("best linear", (-0.45, linear), ha="left", va="bottom", fontsize=7.5)
    axes[2].set_xticks(range(len(rates)), [f"{rate:g}" for rate in rates.values()])
    axes[2].set(title="Probe at the end", xlabel="kb", ylabel="NMSE")
    axes[2].grid(axis="x", visible=False)
    drawn.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=5)
    return drawn
