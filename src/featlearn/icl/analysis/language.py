"""Figures 5.1 to 5.3: of the models that the config names, or else of the small ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import seaborn as sns

from featlearn.core.frames import pick
from featlearn.core.plots import COLOURS, FILLS, canvas
from featlearn.core.publish import figure
from featlearn.core.stats import percent
from featlearn.icl.points import flipped, looks

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@figure("fig-5-1", family="chat")
@figure("fig-5-2", family="base")
def accuracies(flips: pd.DataFrame, family: str) -> Figure:
    """Do larger models follow flipped labels further? ({{ family }} models)

    *What to see:* with all labels flipped, base models: {{ said("icl/large-overrides", holds="the largest follows its
    prompt, by its accuracy", fails="the largest does not follow its prompt, by its accuracy") }}; {{
    said("icl/small-falls-less", holds="the smallest falls less, by the difference", fails="the smallest does not fall
    less, by the difference") }}. Dots are seeds, lines means with 95 % intervals; dashed is chance. Without language
    models in the config, small transformers on documents of words stand in, with fewer (chat) or more (base) inverted
    documents in their corpus; crosses are a Bayesian who knows that corpus.
    """
    own = pick(flips, noise="labels")
    if family in set(own["family"]):
        own = pick(own, family=family)
    sets = list(dict.fromkeys(own["data"]))
    mean = own.groupby(["model", "share", "replicate"], sort=False)["value"].mean().reset_index()
    panels = {name: pick(own, data=name) for name in sets}
    if len(sets) > 1:
        panels["Average"] = mean
    drawn = canvas(max(4.4, 2.6 * len(panels)), 3.2)
    axes = drawn.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    for ax, (name, part) in zip(axes, panels.items(), strict=True):
        flipped(ax, part, looks(own))
        title = "documents of words (ours)" if "bayes" in part else name
        ax.set(title=title, xlabel="share of flipped labels")
    axes[0].set_ylabel("accuracy")
    axes[-1].legend()
    return drawn


@figure("fig-5-3")
def attention(attention: pd.DataFrame) -> Figure:
    """Does a larger model attend more to an irrelevant sentence?

    *What to see:* the percentage above each pair; {{ said("icl/attention-irrelevant-as-printed", holds="it is larger
    for the larger model, by the difference", fails="it is not larger for the larger model, by the difference") }}
    (correct label). Boxes: norm of the last layer's attention from the label to either sentence, over all prompts;
    diamonds: means of replicates; percentage: share of the irrelevant sentence. The stand-ins are small transformers
    with a word and a filler as sentences; their loss does not train this row.
    """
    family = "base" if "base" in set(attention["family"]) else attention["family"].iloc[0]
    own = pick(attention, family=family)
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
        part = pick(own, label=label)
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
