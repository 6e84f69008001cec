"""Random starts: what becomes of them, the rule without a head, the phase diagram of collapse."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib.ticker import MaxNLocator

from featlearn.core.plots import COLOURS, FILLS, PALETTE, canvas
from featlearn.core.publish import Config, figure
from featlearn.core.statistical import whiskers
from featlearn.core.stats import estimate, estimate_share
from featlearn.noncontrastive.tables.starts import MODES, NAMES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

OUTCOMES = {
    "diverse": (PALETTE["both features"], "both features"),
    "strong": (PALETTE["strong feature"], "strong only: collapse"),
    "weak": (PALETTE["weak feature"], "weak only"),
    "undecided": (PALETTE["mixture"], "a neuron holds a mixture"),
}

#: Share of neurons on the weak feature without a head.
FORMULA = r"$(2/\pi)\,\arctan\,(\alpha_2/\alpha_1)^{3/2}$"


@figure("outcomes")
def what_becomes(outcomes: pd.DataFrame) -> Figure:
    """What becomes of random starts

    Shares of random starts by which features the neurons hold in the end, a row a setting, for three
    ways of training from the same starts; n tells how many starts, and a white whisker is Wilson's 95 %
    interval of the share with both features. *What to see:*
    {{ said("noncontrastive/starts-head-diverse", holds="with the head most starts end with both features (green)",
            fails="with the head it is not most starts that end with both features (green)") }};
    {{ said("noncontrastive/starts-head-advantage", holds="that is far more often than without it, by a share of",
            fails="that is not far more often than without it: by a share of") }};
    {{ said("noncontrastive/starts-no-stop-gradient-collapse", holds="when StopGrad is left out most collapse onto the strong one (blue)",
            fails="when StopGrad is left out it is not most that collapse onto the strong one (blue)") }};
    {{ said("noncontrastive/starts-frequency", holds="where features differ in frequency and not in strength, with the head most end with both as well",
            fails="where features differ in frequency and not in strength, with the head it is not most that end with both") }}.
    The theorem, which says all, speaks of large dimensions and of a weak feature that is weaker than any constant.
    Where there are more neurons than features, what is green without a head comes of their number alone.
    """
    cases = [name for name in NAMES if (outcomes["case"] == name).any()]
    cases += [name for name in outcomes["case"].unique() if name not in NAMES]
    starts = outcomes[outcomes["mode"] == "head"]["case"].value_counts()
    drawn = canvas(8.6, 0.36 * len(cases) + 1.5)
    axes = drawn.subplots(1, len(MODES), sharey=True)
    for ax, (mode, title) in zip(axes, MODES.items(), strict=True):
        own = outcomes[outcomes["mode"] == mode]
        counts = pd.crosstab(own["case"], own["outcome"])
        share = counts.div(counts.sum(axis=1), axis=0).reindex(cases)
        left = np.zeros(len(cases))
        for outcome, (colour, label) in OUTCOMES.items():
            width = share.get(outcome, pd.Series(0.0, index=cases)).to_numpy()
            ax.barh(range(len(cases)), width, left=left, color=colour, label=label, height=0.72)
            left += width
        # the share with both features begins at zero, so its interval can stand at its end
        for row, case in enumerate(cases):
            seen = estimate_share(
                (own[own["case"] == case]["outcome"] == "diverse").to_numpy(float)
            )
            ax.hlines(row, seen.low, seen.high, color=FILLS["white"], linewidth=3.2)
            ax.hlines(row, seen.low, seen.high, color=COLOURS["ink"], linewidth=1.2)
        ax.set(xlim=(0, 1), xlabel="share of starts")
        ax.set_title(title)
        ax.grid(axis="y", visible=False)
    axes[0].set_yticks(
        range(len(cases)),
        [f"{NAMES.get(name, name)}, n = {starts[name]}" for name in cases],
    )
    axes[0].invert_yaxis()
    drawn.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return drawn


@figure()
def winner_rule(outcomes: pd.DataFrame, config: Config) -> Figure:
    """Which feature a neuron takes without a head

    Share of neurons on the weak feature when the head is frozen, a dot a setting, with 95 % t-intervals over
    groups of starts, and the closed form of its ratio of strengths for Gaussian starts (line). *What to see:* without
    a head a neuron's fate is decided by its own start: the strong feature wins if alpha_1^6 B_1^4 > alpha_2^6 B_2^4,
    where B_1 and B_2 are the products of the neuron with the two features;
    {{ said("noncontrastive/starts-no-head-rule", holds="so it is in all starts but for ties, a share of",
            fails="so it is not in all starts, but in a share of") }}.
    Collapse of *all* neurons needs a ratio of strengths near zero.
    """
    frozen = outcomes[outcomes["mode"] == "frozen"]
    cases = sorted(frozen["case"].unique(), key=lambda name: effective_ratio(config["cases"][name]))
    drawn = canvas(6.6, 0.8 + 0.34 * len(cases))
    ax = drawn.subplots()
    names = []
    for place, name in enumerate(cases):
        ratio = effective_ratio(config["cases"][name])
        own = frozen[frozen["case"] == name]
        share = own.groupby("replicate")["weak"].mean() / config["cases"][name].get("neurons", 2)
        seen = estimate(share.to_numpy())
        whiskers(ax, seen.mean, place, seen.half_width, COLOURS["blue"], across=True,
                 label=None if place else "simulated, 95 %")  # fmt: skip
        closed = 2 / np.pi * np.arctan(ratio**1.5)
        ax.plot([closed] * 2, [place - 0.35, place + 0.35], color=PALETTE["theory"], linewidth=2,
                label=None if place else FORMULA)  # fmt: skip
        words = NAMES.get(name, name).replace("\n", " ")
        names.append(rf"{words} ($\alpha_2/\alpha_1$ = {ratio:.2f})")
    ax.set_yticks(range(len(cases)), names)
    ax.set(xlabel="share of neurons on the weak feature", xlim=(0, 0.55), title="Without a head")
    ax.grid(axis="y", visible=False)
    drawn.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return drawn


def effective_ratio(case: Mapping[str, Any]) -> float:
    """``alpha_2 / alpha_1``, a difference in frequency put into the strengths."""
    strong, weak = case["strengths"]
    share = case.get("strong_share", 0.5)
    return float(weak / strong * ((1 - share) / share) ** (1 / 6))


@figure()
def phase_diagram(diagram: pd.DataFrame) -> Figure:
    """Phase diagram of collapse

    How many of the random starts of a cell, with the head, end with both features, collapse onto the strong
    one, take the weak one alone, or leave a neuron with a mixture, over the speed of the head relative to the
    encoder and the ratio of strengths. A cell has few starts, so that neighbours differ by chance. *What to
    see:* the head works over three orders of magnitude of its speed;
    {{ said("noncontrastive/imbalance",
            holds="from the mildest imbalance (top) to the strongest (bottom) the starts that end with both features become fewer, by a share of",
            fails="from the mildest imbalance (top) to the strongest (bottom) the starts that end with both features do not become clearly fewer: by a share of") }}.
    """
    split = diagram["case"].str.split("/", expand=True).astype(float)
    frame = diagram.assign(ratio=split[0], kappa=split[1])
    starts = int(frame.groupby(["ratio", "kappa"]).size().max())
    drawn = canvas(8.6, 5.2)
    axes = drawn.subplots(2, 2, sharey=True, sharex=True)
    for ax, (outcome, (_, words)) in zip(axes.flat, OUTCOMES.items(), strict=True):
        hit = frame.assign(value=(frame["outcome"] == outcome).astype(int))
        count = hit.pivot_table(index="ratio", columns="kappa", values="value", aggfunc="sum")
        image = ax.imshow(count, cmap="cividis", vmin=0, vmax=starts, origin="lower", aspect="auto")
        for (row, column), value in np.ndenumerate(count.to_numpy()):
            ax.text(column, row, f"{value:g}", ha="center", va="center", fontsize=8,
                    color="white" if value < 0.55 * starts else "black")  # fmt: skip
        ax.set_xticks(range(len(count.columns)), [f"{k:g}" for k in count.columns])
        ax.set_yticks(range(len(count.index)), [f"{r:g}" for r in count.index])
        ax.set_title(words, fontsize=9)
        ax.grid(visible=False)
    for ax in axes[-1]:
        ax.set_xlabel(r"speed of the head $\kappa = \eta_E/\eta$")
    for ax in axes[:, 0]:
        ax.set_ylabel(r"strengths $\alpha_2/\alpha_1$")
    bar = drawn.colorbar(image, ax=axes, pad=0.01, ticks=MaxNLocator(5, integer=True))
    bar.set_label(f"starts, of {starts} a cell")
    return drawn
