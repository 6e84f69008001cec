"""Figures 5.1 to 5.3."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from featlearn.core.plots import COLOURS, canvas
from featlearn.core.publish import figure
from featlearn.core.statistical import Look, lines, share_interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

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

    Accuracy with 95 % intervals over seeds of the label of a query, over the share of examples in the prompt
    whose label is flipped; the query's never is. A panel a data set and one for their average, a line a model
    from small to large; dashed is chance. Status `stand-in`: small transformers of ours on documents of
    words, not Llama on English. There "chat" had .1 inverted documents in its corpus and "base" .2, which
    imitates a stronger and a weaker prior. A cross is what a Bayesian does who knows that corpus: documents with
    mixed labels do not occur in it, so that he follows the majority of the labels and, at a tie, the prior; with all
    labels flipped a document is one of the inverted ones, and the answer with the least loss is the inverted one. Who
    knows the prior alone is right everywhere. *What to see:* models that follow the context fall below chance as labels
    are flipped; those that follow the prior stay, and are farther from the least loss. Of "base" with all labels flipped:
    {{ said("icl/large-overrides", holds="the largest stand-in follows them far below chance", fails="the largest stand-in does not follow them") }},
    and {{ said("icl/small-falls-less", holds="the smallest falls less", fails="the smallest does not fall less") }};
    the order is not one of size: compare the middle one.
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
        lines(ax, part, "share", "model", looks=looks(own), errorbar=share_interval)
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

    Norm of the last row of the attention of the last layer, from the label to the words of either sentence, a
    dot a prompt, with the mean as a line; the smallest and the largest model. Status `stand-in`: small
    transformers of ours, a word that has a meaning and a filler instead of sentences. *What to see:* in the
    thesis the smaller model attends to the relevant sentence only, the larger to both. That the larger
    stand-in gives more of its attention to what is irrelevant: {{ verdict("icl/attention-irrelevant-as-printed") }}.
    """
    family = "base" if "base" in set(attention["family"]) else attention["family"].iloc[0]
    own = attention[(attention["family"] == family) & (attention["replicate"] == 0)]
    models = looks(own)
    shown = dict.fromkeys((next(iter(models)), list(models)[-1]))
    drawn = canvas(7.2, 4.6)
    axes = drawn.subplots(2, 2, sharex=True, sharey=True)
    for row, label in zip(axes, ("correct", "wrong"), strict=True):
        for ax, sentence in zip(row, ("relevant", "irrelevant"), strict=True):
            part = own[(own["label"] == label) & (own["sentence"] == sentence)]
            for name in shown:
                of, look = part[part["model"] == name], models[name]
                ax.plot(of["prompt"] + 1, of["value"], look.marker, color=look.colour,
                        markersize=2.5, label=name)  # fmt: skip
                ax.axhline(of["value"].mean(), color=look.colour, linewidth=1.2)
            ax.set_title(f"{label} label, {sentence}")
    for ax in axes[1]:
        ax.set_xlabel("prompt")
    for ax in axes[:, 0]:
        ax.set_ylabel("norm of attention")
    drawn.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return drawn
