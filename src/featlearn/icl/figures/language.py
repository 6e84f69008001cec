"""Figures 5.1 to 5.3."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import seaborn as sns

from featlearn.core.plots import COLOURS, FILLS, canvas
from featlearn.core.prose import percent
from featlearn.core.publish import figure
from featlearn.core.statistical import Look, share_interval
from featlearn.icl.figures.points import lines_and_points

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Between the lines of two models, in shares of flipped labels.
ASIDE = 0.02
LOOKED = (("sky", "o"), ("green", "s"), ("orange", "^"), ("red", "D"), ("purple", "v"))


def looks(frame: pd.DataFrame) -> dict[str, Look]:
    """Of the models, from small to large: a config does not keep an order."""
    names = list(dict.fromkeys(frame.sort_values("parameters", kind="stable")["model"]))
    pairs = [LOOKED[place % len(LOOKED)] for place in range(len(names))]
    return {
        name: Look(name, COLOURS[colour], marker)
        for name, (colour, marker) in zip(names, pairs, strict=True)
    }


def bayesian(ax: Axes, frame: pd.DataFrame) -> None:
    """The mean of what a Bayesian gets on the same prompts, where a frame has it.

    He turns where half of the labels are flipped, so that his marks are not joined.
    """
    if "bayes" in frame:
        mean = frame.groupby("share")["bayes"].mean()
        ax.plot(mean.index, mean, "x", color=COLOURS["ink"], markersize=7, label="Bayes")


@figure("fig-5-1", family="chat")
@figure("fig-5-2", family="base")
def accuracies(flips: pd.DataFrame, family: str) -> Figure:
    """Accuracy against the share of flipped labels, {{ family }} models

    Accuracy of the label of a query, over the share of examples in the prompt whose label is flipped; the
    query's never is: a dot a seed, and their mean with its 95 % interval; models stand beside each other. A panel
    a data set, and one for their average where there are several; a line a model from small to large; dashed is
    chance. Status `stand-in`: small transformers of ours on documents of
    words, not Llama on English. There "chat" had .1 inverted documents in its corpus and "base" .2, which
    imitates a stronger and a weaker prior. A cross is what a Bayesian does who knows that corpus: documents with
    mixed labels do not occur in it, so that he follows the majority of the labels and, at a tie, the prior; with all
    labels flipped a document is one of the inverted ones, and the answer with the least loss is the inverted one. Who
    knows the prior alone is right everywhere. *What to see:* models that follow the context fall below chance as labels
    are flipped; those that follow the prior stay, and are farther from the least loss. What is judged are the "base"
    models, with all labels flipped:
    {{ said("icl/large-overrides", holds="the largest stand-in follows them far below chance, to this accuracy", fails="the largest stand-in does not follow them far below chance, but to this accuracy") }};
    {{ said("icl/small-falls-less", holds="the smallest falls less, and is ahead by this difference in accuracy", fails="the smallest does not fall less, by this difference in accuracy to the largest") }}.
    If size alone decided, the middle line would lie between the others everywhere.
    """
    own = flips[(flips["family"] == family) & (flips["noise"] == "labels")]
    if own.empty:
        own = flips[flips["noise"] == "labels"]
    sets = list(dict.fromkeys(own["data"]))
    mean = own.groupby(["model", "share", "replicate"], sort=False)["value"].mean().reset_index()
    panels = {name: own[own["data"] == name] for name in sets}
    if len(sets) > 1:
        panels["Average"] = mean
    drawn = canvas(max(4.4, 2.6 * len(panels)), 3.2)
    axes = drawn.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    for ax, (name, part) in zip(axes, panels.items(), strict=True):
        lines_and_points(ax, part, "share", "model", looks=looks(own), aside=ASIDE,
                         errorbar=share_interval)  # fmt: skip
        bayesian(ax, part)
        ax.axhline(0.5, color=COLOURS["grey"], linestyle="--", linewidth=1)
        title = "documents of words (ours)" if "bayes" in part else name
        ax.set(title=title, xlabel="share of flipped labels", ylim=(-0.03, 1.03))
    axes[0].set_ylabel("accuracy")
    axes[-1].legend()
    return drawn


@figure("fig-5-3")
def attention(attention: pd.DataFrame) -> Figure:
    """Attention of the label to a relevant and an irrelevant sentence

    Norm of the last row of the attention of the last layer, from the label to the words of either sentence, of
    the smallest and the largest model: boxes are quartiles of all prompts and replicates, whiskers reach 1.5 times as
    far, small dots lie beyond; diamonds are the means of replicates. The number above a pair is the share that the
    irrelevant sentence has of the means of both, over the replicates. Status `stand-in`: small transformers of ours,
    a word that has a meaning and a filler instead of sentences. *What to see:* in the
    thesis the smaller model attends to the relevant sentence only, for which that number would be next to nothing,
    the larger to both. A smaller stand-in with about one half attends to both alike, which is not as printed. And
    {{ said("icl/attention-irrelevant-as-printed", holds="with the correct label the larger stand-in gives more of its attention to what is irrelevant, by this difference of the two shares",
            fails="with the correct label the larger stand-in gives no more of its attention to what is irrelevant, by this difference of the two shares") }}.
    """
    family = "base" if "base" in set(attention["family"]) else attention["family"].iloc[0]
    own = attention[attention["family"] == family]
    models = looks(own)
    shown = list(dict.fromkeys((next(iter(models)), list(models)[-1])))
    own = own[own["model"].isin(shown)]
    order = {(name, kind): f"{name},\n{kind}" for name in shown
             for kind in ("relevant", "irrelevant")}  # fmt: skip
    own = own.assign(
        group=[order[pair] for pair in zip(own["model"], own["sentence"], strict=True)]
    )
    drawn = canvas(7.6, 3.6)
    axes = drawn.subplots(1, 2, sharey=True)
    for ax, label in zip(axes, ("correct", "wrong"), strict=True):
        part = own[own["label"] == label]
        ax.set_yscale("log")  # of its numbers seaborn then takes the quartiles
        sns.boxplot(part, x="group", y="value", hue="model", order=list(order.values()),
                    hue_order=shown, palette=[models[name].colour for name in shown], dodge=False,
                    width=0.6, fliersize=1.5, linewidth=0.8, legend=False, ax=ax)  # fmt: skip
        means = part.groupby(["group", "replicate"], sort=False)["value"].mean().reset_index()
        ax.plot(means["group"].map(list(order.values()).index), means["value"], "D", markersize=4,
                color=FILLS["white"], markeredgecolor=COLOURS["ink"])  # fmt: skip
        wide = means.pivot_table(index="replicate", columns="group", values="value")
        for place, name in enumerate(shown):
            relevant, irrelevant = (wide[order[name, kind]] for kind in ("relevant", "irrelevant"))
            share = (irrelevant / (relevant + irrelevant)).mean()
            ax.text(2 * place + 0.5, 1.0, f"irrelevant: {percent(share)}", ha="center", va="top", fontsize=9,
                    transform=ax.get_xaxis_transform())  # fmt: skip
        ax.set(title=f"{label} label", xlabel=None, ylabel="norm of attention",
               ylim=(None, 3 * own["value"].max()))  # fmt: skip
        ax.grid(axis="x", visible=False)
    return drawn
