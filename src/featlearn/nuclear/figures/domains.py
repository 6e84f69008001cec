"""Unseen domains of images."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import seaborn as sns

from featlearn.core.plots import COLOURS, canvas
from featlearn.core.publish import figure
from featlearn.core.statistical import FEW, interval
from featlearn.nuclear.words import AVERAGE, PAIRS, averaged, gains

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@figure("fig-6-4")
def gains_of_the_penalty(accuracies: pd.DataFrame) -> Figure:
    """What the nuclear norm adds, in points of accuracy

    Accuracy in the unseen domain with the penalty minus without, in pairs of the same split, start and
    batches. The weight is the one of a short list that is best on held-out images of the training
    domains; *released* is .01 over the rows, after 100 steps. Points are trials, strokes their means, lines
    95 % intervals of these. An interval that holds 0 shows no gain. *What to see,* of the average over domains,
    at the right: {{ said("nuclear/gain-erm", holds="ERM gains by the penalty, a share of",
    fails="ERM loses by the penalty, a share of") }}; {{ said("nuclear/gain-mixup",
    holds="with Mixup it gains, a share of", fails="with Mixup it loses, a share of") }};
    {{ said("nuclear/gain-swad", holds="with SWAD it gains, a share of",
    fails="with SWAD it loses, a share of") }}. Not drawn is the weight .01 of the printed sum (*ERM-NU printed* in
    the tables): {{ said("nuclear/gain-printed", holds="with it the accuracy of ERM
    rises, by a share of", fails="with it the accuracy of ERM falls and changes by a share of") }}.
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
    ax.set(xlabel=f"left-out domain; {own['replicate'].nunique()} trials", ylabel="gain, points")
    for kind, colour in zip(kinds, palette, strict=True):
        ax.plot([], [], "o", color=colour, label=kind)
    drawn.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return drawn


@figure("fig-6-5")
def ranks(swept: pd.DataFrame) -> Figure:
    """Stable rank and accuracy over the weight of the penalty

    Of features of the unseen domain: the stable rank as printed (||M||_F^2 / ||M||_2, which falls also where
    features only shrink), the standard one (||M||_F^2 / ||M||_2^2, which has no unit), and that of centred
    features; and the accuracy. Means over trials and left-out domains with 95 % intervals over trials (of few,
    points are trials). *What to see,* ranks and accuracy at the same weight:
    {{ said("nuclear/gain-printed", holds="at the printed weight, .01, the accuracy is higher than without a
    penalty, by a share of", fails="at the printed weight, .01, the network unlearns: its accuracy changes by a
    share of") }}; {{ said("nuclear/rank-falls-standard", holds="the standard rank is lower at the largest weight
    than without a penalty; the natural logarithm of their ratio is", fails="the standard rank is higher at the
    largest weight than without a penalty; the natural logarithm of their ratio is") }};
    {{ said("nuclear/rank-trend-standard", holds="over all weights its rank correlation with the weight is
    negative, at", fails="over all weights its rank correlation with the weight is not negative, at") }}. Of few
    weights the last one alone can decide that, and a rank that falls where the accuracy does says little:
    features of the label may go, too.
    """
    drawn = canvas(8.6, 2.7)
    axes = drawn.subplots(1, 4)
    names = {"printed": "as printed", "standard": "standard", "centred": "centred",
             "value": "accuracy"}  # fmt: skip
    means = averaged(swept, ["weight"], list(names))
    trials = means["replicate"].nunique()
    means["weight"] = means["weight"].map("{:g}".format)
    for ax, (name, title) in zip(axes, names.items(), strict=True):
        colour = COLOURS["red" if name == "value" else "blue"]
        sns.lineplot(means, x="weight", y=name, marker="o", errorbar=interval, err_style="bars",
                     color=colour, ax=ax)  # fmt: skip
        if trials <= FEW:
            ax.plot(means["weight"], means[name], "o", color=colour, markersize=3, alpha=0.5)
        ax.set(title=title, xlabel=None, ylabel=title if name == "value" else "stable rank")
        ax.tick_params(axis="x", labelsize=8)
        ax.margins(x=0.12)
    axes[0].set_yscale("log")
    drawn.supxlabel(rf"weight $\lambda$ of the penalty; {trials} trials", fontsize=9)
    return drawn
