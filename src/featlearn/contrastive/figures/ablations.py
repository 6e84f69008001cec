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


@figure()
def ablations(evaluation: pd.DataFrame) -> Figure:
    """One change at a time

    Every arm changes one thing in the reference and sees the same draws; dots are replicates, a tick is their
    mean with its 95 % interval. Left, the probe's error (mean squared error, NMSE) over that of the best linear
    predictor of the arm's data; green: the Bayes floor of that data. Middle, the share of atoms with a
    singleton. Right, the share of neurons that fire on any sample at the end; a replicate in which none does is
    *dead*, and its probe can but predict the mean. Black: the reference; blue: better than linear by 5 %;
    red: not. *What to see,* in brackets differences of NMSE:
    {{ said("contrastive/ablation-no-mask", holds="the mask lowers the error", fails="the mask does not clearly lower the error") }};
    {{ said("contrastive/ablation-independent-masks", holds="two independent masks do no better than none",
            fails="two independent masks do better than none") }};
    {{ said("contrastive/schedule-growth-not-needed", holds="thresholds that only follow the norm do as well as the reference",
            fails="thresholds that only follow the norm do not do as well as the reference") }}. In ratios to
    the NMSE of linear: {{ said("contrastive/ablation-zero-thresholds", holds="nothing is gained without thresholds",
            fails="the network without thresholds is another than linear") }};
    {{ said("contrastive/paper-width", holds="the paper's width suffices to beat linear", fails="the paper's width does not suffice to beat linear") }}.
    As shares: {{ said("contrastive/printed-schedule", holds="thresholds that grow as printed leave neurons alive",
            fails="thresholds that grow as printed leave alive none of the neurons, or next to none") }};
    {{ said("contrastive/dictionary-spiky", holds="of a dictionary of spikes, which the masks hide from one view, hardly an atom is covered",
            fails="of a dictionary of spikes, which the masks hide from one view, atoms are covered all the same") }}.
    """
    arms = [arm for arm in ARMS if (evaluation["model"] == arm).any()]
    drawn = canvas(8.6, 0.8 + 0.27 * len(arms))
    left, middle, right = drawn.subplots(1, 3, sharey=True, width_ratios=[2, 1, 1])
    own = evaluation[evaluation["model"].isin(arms)]
    exact = {
        name: {
            arm: per_replicate(evaluation, model=f"{arm}/{name}-exact", quantity="nmse").mean()
            for arm in arms
        }
        for name in ("linear", "bayes")
    }
    relative = own[own["quantity"] == "nmse"]
    relative = relative.assign(value=relative["value"] / relative["model"].map(exact["linear"]))
    gained = relative.groupby("model")["value"].mean() < 0.95
    looks = {arm: Look(ARMS[arm], _colour(arm, bool(gained[arm]))) for arm in arms}
    rows(left, relative, "model", looks=looks)
    for ax, quantity in ((middle, "covered"), (right, "alive")):
        rows(ax, own[own["quantity"] == quantity], "model", looks=looks, errorbar=share_interval)
    for row, arm in enumerate(arms):
        floor = exact["bayes"][arm] / exact["linear"][arm]
        left.vlines(floor, row - 0.4, row + 0.4, color=COLOURS["green"], linewidth=2)
        alive = per_replicate(evaluation, model=arm, quantity="alive")
        if dead := int((alive == 0).sum()):
            right.annotate(f"dead: {dead} of {alive.size}", (alive.max(), row), (8, 0), va="center",
                           textcoords="offset points", fontsize=8)  # fmt: skip
    left.axvline(1, color=COLOURS["ink"], linewidth=0.9, linestyle="--")
    left.set(title="Error of the probe", xlim=(0, None), xlabel="NMSE over that of the best linear")
    for ax, title, words in (
        (middle, "Atoms covered", "share with a singleton"),
        (right, "Neurons alive", "share that fires at all"),
    ):
        ax.tick_params(labelleft=False)
        ax.set(title=title, xlim=(-0.03, 1.03), xlabel=words)
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
    """How fast thresholds may grow

    Thresholds grow by a factor of at least 1 + k_b eta / d a step, with a constant k_b for which the paper
    prints 1. Thin lines and dots are replicates, thick lines and bars their means. *What to see:* as printed
    {{ value("ablations", model="printed-schedule", quantity="alive") | percent }} of the neurons fire at the end:
    by the closed form an atom outgrows its threshold only if k_b is below about 0.2. The proof multiplies the
    whole of alpha - b by a growth factor where only the first term grows.
    That the printed schedule leaves a share of neurons alive {{ verdict("contrastive/printed-schedule") }}; that
    thresholds that only follow the norm (k_b = 0) do as well, in the difference of NMSE,
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
            label = f"$k_b$ = {rate:g}" + (", as printed" if rate == 1 else "")
            lines(ax, seen, GROWTH[arm], label)
        ax.set(xlabel="step", ylim=(-0.03, 1.05))
    axes[0].set(title="Neurons alive", ylabel="share that fires at all")
    axes[1].set(title="Atoms covered", ylabel="share with a singleton")
    for x, arm in enumerate(rates):
        bar(axes[2], x, per_replicate(evaluation, model=arm, quantity="nmse"), GROWTH[arm])
    level(axes[2], evaluation, "reference/linear-exact", "best\nlinear")
    axes[2].set_xticks(range(len(rates)), [f"{rate:g}" for rate in rates.values()])
    axes[2].set(title="Probe at the end", xlabel="$k_b$", ylabel="NMSE")
    axes[2].grid(axis="x", visible=False)
    drawn.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=5)
    return drawn
