"""Unseen domains of images."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import seaborn as sns

from featlearn.core.plots import COLOURS, canvas
from featlearn.core.publish import figure
from featlearn.core.statistical import interval
from featlearn.nuclear.words import AVERAGE, PAIRS, averaged, gains

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@figure("fig-6-4")
def gains_of_the_penalty(accuracies: pd.DataFrame) -> Figure:
    """What the nuclear norm adds, in points of accuracy

    Accuracy in the unseen domain with the penalty minus without, in pairs of the same split, start and
    batches. The weight is the one of a short list that is best on held-out images of the training
    domains; *released* is .01 over the rows, after 100 steps. Points are trials, lines 95 % intervals of the mean. Last: the mean over the domains. *What to
    see:* what holds for all domains and what for one; an interval that holds 0 shows no gain. Not
    drawn: .01 of the printed sum (*ERM-NU printed* in the tables), with which the accuracy
    {{ said("nuclear/gain-printed", holds="rises", fails="falls") }}.
    """
    own = gains(accuracies)
    own = own[own["pair"].isin(PAIRS)]
    own["value"] = own["value"] * 100
    own["domain"] = own["domain"].replace(AVERAGE, "average")
    drawn = canvas(8, 3.4)
    ax = drawn.subplots()
    kinds = list(own["pair"].unique())
    palette = [COLOURS[name] for name in ("blue", "orange", "green", "purple")][: len(kinds)]
    shared = {"data": own, "x": "domain", "y": "value", "hue": "pair", "hue_order": kinds,
              "palette": palette, "ax": ax, "legend": False}  # fmt: skip
    sns.stripplot(**shared, dodge=True, jitter=False, size=4, alpha=0.6)
    sns.pointplot(**shared, dodge=0.8 - 0.8 / len(kinds), linestyle="none", marker="_",
                  errorbar=interval, markersize=9, err_kws={"linewidth": 1.3})  # fmt: skip
    ax.axhline(0, color=COLOURS["grey"], linewidth=0.8)
    ax.set(xlabel="left-out domain", ylabel="gain, points")
    for kind, colour in zip(kinds, palette, strict=True):
        ax.plot([], [], "o", color=colour, label=kind)
    drawn.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return drawn


@figure("fig-6-5")
def ranks(swept: pd.DataFrame) -> Figure:
    """Stable rank and accuracy over the weight of the penalty

    Of features of the unseen domain: the stable rank as printed (||M||_F^2 / ||M||_2, which grows with the
    features' size), the standard one, and that of centred features; and the accuracy. Means over
    trials and left-out domains with 95 % intervals over trials. *What to see:*
    which of the three falls, and from which weight on. From the smallest weight to the largest the standard one
    {{ said("nuclear/rank-falls-standard", holds="falls", fails="does not fall") }}; over all weights its rank correlation
    with the weight {{ said("nuclear/rank-trend-standard", holds="is negative", fails="is not negative") }}.
    """
    drawn = canvas(8.6, 2.9)
    axes = drawn.subplots(1, 4)
    names = {"printed": "as printed", "standard": "standard", "centred": "centred",
             "value": "accuracy"}  # fmt: skip
    means = averaged(swept, ["weight"], list(names))
    for ax, (name, title) in zip(axes, names.items(), strict=True):
        sns.lineplot(means.assign(weight=means["weight"].map("{:g}".format)), x="weight", y=name,
                     marker="o", errorbar=interval, err_style="bars",
                     color=COLOURS["red" if name == "value" else "blue"], ax=ax)  # fmt: skip
        ax.set(title=title, xlabel=r"$\lambda$", ylabel=None)
        ax.tick_params(axis="x", labelrotation=45)
    axes[0].set_ylabel("stable rank")
    axes[0].set_yscale("log")
    return drawn
