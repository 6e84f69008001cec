"""Random starts: what becomes of them, the rule without a head, the phase diagram of collapse."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from featlearn.core.plots import COLOURS, PALETTE, canvas
from featlearn.core.publish import Config, figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

OUTCOMES = {
    "diverse": (PALETTE["both features"], "both features"),
    "strong": (PALETTE["strong feature"], "strong only: collapse"),
    "weak": (PALETTE["weak feature"], "weak only"),
    "undecided": (PALETTE["mixture"], "a neuron holds a mixture"),
}
MODES = {
    "head": "trained head",
    "frozen": "no head",
    "live-target": "head, no StopGrad",
}
NAMES = {
    "base": "base",
    "small-dimension": "d = 30",
    "large-dimension": "d = 10,000",
    "stronger": "strengths 3 : 1",
    "slow-head": r"slow head, $\kappa$ = 0.01",
    "fast-head": r"fast head, $\kappa$ = 1",
    "frequency": "equal strengths,\n9 of 10 show the first",
    "together": "both in each sample",
    "wide": "more neurons",
}


@figure("outcomes")
def what_becomes(outcomes: pd.DataFrame) -> Figure:
    """What becomes of random starts

    Shares of random starts by which features the neurons hold in the end, a row a setting, for three
    ways of training from the same starts. *What to see:* with the head most starts end with both
    features (green), without it most collapse onto the strong one (blue), and so they do with the head
    when StopGrad is left out. It is most starts and not all: the theorem speaks of large dimensions and
    of a weak feature that is weaker than any constant. With imbalance by frequency or features that
    occur together the picture is the same.
    """
    cases = [name for name in NAMES if (outcomes["case"] == name).any()]
    cases += [name for name in outcomes["case"].unique() if name not in NAMES]
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
        ax.set(xlim=(0, 1), xlabel="share of starts")
        ax.set_title(title)
        ax.grid(axis="y", visible=False)
    axes[0].set_yticks(range(len(cases)), [NAMES.get(name, name) for name in cases])
    axes[0].invert_yaxis()
    drawn.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return drawn


@figure()
def winner_rule(outcomes: pd.DataFrame, config: Config) -> Figure:
    """Which feature a neuron takes without a head

    Share of neurons on the weak feature when the head is frozen, a dot a setting (95 % intervals over
    replicates), and the closed form for Gaussian starts. *What to see:* without a head a neuron's fate is
    decided by its own start, exactly: the strong feature wins if alpha_1^6 B_1^4 > alpha_2^6 B_2^4.
    Collapse of *all* neurons needs a ratio of strengths near zero.
    """
    frozen = outcomes[outcomes["mode"] == "frozen"]
    drawn = canvas(4.6, 3.6)
    ax = drawn.subplots()
    ratio = np.linspace(0.2, 1, 200)
    ax.plot(ratio, 2 / np.pi * np.arctan(ratio**1.5), color=COLOURS["ink"],
            label=r"$(2/\pi)\,\arctan\,(\alpha_2/\alpha_1)^{3/2}$")  # fmt: skip
    for place, (name, own) in enumerate(frozen.groupby("case", sort=False)):
        ratio_of = effective_ratio(config["cases"][name])
        neurons = config["cases"][name].get("neurons", 2)
        share = own.groupby("replicate")["weak"].mean() / neurons
        error = 1.96 * share.std(ddof=1) / np.sqrt(len(share))
        at = ratio_of + 0.006 * (place % 5 - 2)  # cases of one ratio side by side
        ax.errorbar(at, share.mean(), error, fmt="o", markersize=4, color=COLOURS["blue"],
                    elinewidth=1, label="simulated, 95 %" if place == 0 else None)  # fmt: skip
    ax.set(xlabel=r"effective ratio of strengths $\alpha_2/\alpha_1$", ylim=(0, 0.55))
    ax.set_ylabel("share of neurons on the weak feature")
    ax.set_title("Without a head")
    ax.legend(loc="upper left")
    return drawn


def effective_ratio(case: Mapping[str, Any]) -> float:
    """``alpha_2 / alpha_1``, a difference in frequency put into the strengths."""
    strong, weak = case["strengths"]
    share = case.get("strong_share", 0.5)
    return float(weak / strong * ((1 - share) / share) ** (1 / 6))


@figure()
def phase_diagram(diagram: pd.DataFrame) -> Figure:
    """Phase diagram of collapse

    Shares of random starts with the head that end with both features, that collapse onto the strong one,
    and in which a neuron holds a mixture, over the speed of the head relative to the encoder and the
    ratio of strengths. *What to see:* the head works over three orders of magnitude of its speed; where
    the weak feature is much weaker, more starts collapse or end as mixtures, and the slowest head
    collapses most.
    """
    split = diagram["case"].str.split("/", expand=True).astype(float)
    frame = diagram.assign(ratio=split[0], kappa=split[1])
    drawn = canvas(8.6, 3.3)
    axes = drawn.subplots(1, 3, sharey=True)
    for ax, outcome in zip(axes, ("diverse", "strong", "undecided"), strict=True):
        hit = frame.assign(value=(frame["outcome"] == outcome).astype(float))
        share = hit.pivot_table(index="ratio", columns="kappa", values="value")
        ax.imshow(share, cmap="cividis", vmin=0, vmax=1, origin="lower", aspect="auto")
        for (row, column), value in np.ndenumerate(share.to_numpy()):
            ax.text(column, row, f"{value:.2f}", ha="center", va="center", fontsize=8,
                    color="white" if value < 0.55 else "black")  # fmt: skip
        ax.set_xticks(range(len(share.columns)), [f"{k:g}" for k in share.columns])
        ax.set_yticks(range(len(share.index)), [f"{r:g}" for r in share.index])
        ax.set(xlabel=r"speed of the head $\kappa = \eta_E/\eta$")
        ax.set_title(OUTCOMES[outcome][1], fontsize=9)
        ax.grid(visible=False)
    axes[0].set_ylabel(r"strengths $\alpha_2/\alpha_1$")
    return drawn
