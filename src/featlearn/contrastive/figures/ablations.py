"""What each change does to the probe and to coverage."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from featlearn.contrastive.figures.shared import bar, level, lines, wide
from featlearn.contrastive.tables.ablations import ARMS
from featlearn.core.plots import COLOURS, canvas
from featlearn.core.publish import Config, figure
from featlearn.core.statistical import Look, rows, share_interval
from featlearn.core.stats import per_replicate

if TYPE_CHECKING:
    from matplotlib.figure import Figure


#: Share of living neurons below which a network is dead.
DEAD = 0.02


@figure()
def ablations(evaluation: pd.DataFrame) -> Figure:
    """One change at a time

    Every arm changes one thing in the reference and sees the same draws. Left, the probe's error over that of
    the best linear predictor of the arm's data: dots are replicates, a tick is their mean with its 95 %
    interval, green is the Bayes floor of the arm's data. A network of which no neuron fires is called dead: its
    probe predicts the mean. Right, the share of atoms with a singleton. Black: the reference; blue: better than
    linear by 5 %; red: not. *What to see:*
    {{ said("contrastive/ablation-no-mask", holds="the mask lowers the error", fails="the mask does not lower the error") }};
    {{ said("contrastive/ablation-independent-masks", holds="two independent masks do no better than none",
            fails="two independent masks do better than none") }};
    {{ said("contrastive/ablation-zero-thresholds", holds="without thresholds nothing is gained over linear",
            fails="without thresholds the error is another than that of linear") }};
    {{ said("contrastive/printed-schedule", holds="thresholds that grow as printed leave neurons alive",
            fails="thresholds that grow as printed kill every neuron") }}, where
    {{ said("contrastive/schedule-growth-not-needed", holds="thresholds that only follow the norm do as well as the reference",
            fails="thresholds that only follow the norm do not do as well as the reference") }}. The paper's width
    {{ said("contrastive/paper-width", holds="suffices", fails="is too small here") }}, and a dictionary of spikes,
    which the masks hide from one view, {{ said("contrastive/dictionary-spiky", holds="is not learned", fails="is learned") }}.
    """
    arms = [arm for arm in ARMS if (evaluation["model"] == arm).any()]
    drawn = canvas(8.6, 0.8 + 0.27 * len(arms))
    left, right = drawn.subplots(1, 2, sharey=True, width_ratios=[1.6, 1])
    own = evaluation[evaluation["quantity"].isin(["nmse", "covered", "alive"])]
    linear = {
        arm: per_replicate(evaluation, model=f"{arm}/linear-exact", quantity="nmse").mean()
        for arm in arms
    }
    own = own[own["model"].isin(arms)]
    relative = own[own["quantity"] == "nmse"]
    relative = relative.assign(value=relative["value"] / relative["model"].map(linear))
    gained = relative.groupby("model")["value"].mean() < 0.95
    looks = {arm: Look(ARMS[arm], _colour(arm, bool(gained[arm]))) for arm in arms}
    rows(left, relative, "model", looks=looks)
    rows(right, own[own["quantity"] == "covered"], "model", looks=looks, errorbar=share_interval)
    alive = own[own["quantity"] == "alive"].groupby("model")["value"].mean()
    for row, arm in enumerate(arms):
        bayes = per_replicate(evaluation, model=f"{arm}/bayes-exact", quantity="nmse").mean()
        left.vlines(bayes / linear[arm], row - 0.4, row + 0.4, color=COLOURS["green"], linewidth=2)
        if alive.get(arm, 1.0) < DEAD:
            at = relative[relative["model"] == arm]["value"].min()
            left.annotate("dead", (at, row), (-6, 0), textcoords="offset points", ha="right",
                          va="center", fontsize=8)  # fmt: skip
    left.axvline(1, color=COLOURS["ink"], linewidth=0.9, linestyle="--")
    left.set(title="Error of the probe over the best linear one", xlim=(0, None))
    left.set_xlabel("1: no better than linear; green: Bayes floor of the arm's data")
    right.tick_params(labelleft=False)
    right.set(title="Atoms covered", xlim=(-0.03, 1.03), xlabel="share with a singleton")
    return drawn


def _colour(arm: str, gained: bool) -> str:
    if arm == "reference":
        return COLOURS["ink"]
    return COLOURS["blue" if gained else "red"]


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
    That the printed schedule leaves neurons alive {{ verdict("contrastive/printed-schedule") }}; that
    thresholds that only follow the norm do as well
    {{ verdict("contrastive/schedule-growth-not-needed") }}.
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
