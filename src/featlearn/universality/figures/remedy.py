"""Probes and fine-tuning from growing mixtures, and maps of features."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from featlearn.core.plots import COLOURS, PAGE, PALETTE, canvas
from featlearn.core.publish import figure
from featlearn.core.statistical import Look, lines, share_interval
from featlearn.universality.figures.ladders import dots
from featlearn.universality.words import CR, FT, LP, ours

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LOOKS = {LP: Look("probe", COLOURS["blue"], "s"),
         CR: Look("contrastive loss, then probe", COLOURS["sky"], "v"),
         FT: Look("fine-tuning", COLOURS["orange"]),
         ours(0.1): Look("fine-tuning, contrast of 0.1", COLOURS["green"], "^"),
         ours(1): Look("fine-tuning, contrast of 1", COLOURS["red"], "D")}  # fmt: skip


@figure("remedy")
def by_labels(tuned: pd.DataFrame) -> Figure:
    """Target accuracy against labels, after a pre-training on the target alone and on all tasks

    Ours, on vectors (MoCo, 8 dimensions); a converged linear probe (LP in tables), fine-tuning of the whole network (FT)
    or with the contrastive loss at the weight named (Ours), and the contrastive loss alone on the target's unlabelled
    samples before a probe (CR then LP); 95 % intervals, and differences of accuracies in brackets. After all tasks and
    with all labels {{ said("universality/fine-tuning-wins-many", holds="fine-tuning beats a probe", fails="fine-tuning does not beat a probe by .02") }};
    after the target alone and with 5 % of them
    {{ said("universality/probe-wins-few", holds="a probe beats fine-tuning", fails="a probe does not beat fine-tuning") }}. From the
    pre-training on the target to that on all tasks, with all labels, {{ said("universality/fine-tuning-forgets-diversity",
    holds="networks tuned with the contrastive loss fall by .02 at most", fails="networks tuned with the contrastive loss fall by more than .02") }}. Dotted:
    fine-tuning without any pre-training; with 5 % of the labels
    {{ said("universality/pre-training-helps-tuning", holds="the pre-training on the target is ahead of it by .02 or more",
    fails="the pre-training on the target is not ahead of it by .02") }}. With all labels
    {{ said("universality/learned-not-raw-all-labels", holds="the probe after the target leads one of the raw input by .05 or more",
    fails="the probe after the target does not lead one of the raw input by .05") }} (Figure F.13).
    """
    return drawn_by_labels(tuned, "tasks")


def drawn_by_labels(tuned: pd.DataFrame, what: str) -> Figure:
    """A panel for the pre-training on the target and one for that on all ``what``."""
    mixtures = sorted(set(tuned["mixture"]) - {0})
    shown = (mixtures[0], mixtures[-1])
    looks = {name: look for name, look in LOOKS.items() if name in set(tuned["method"])}
    begun = (
        tuned[(tuned["method"] == FT) & (tuned["mixture"] == 0)].groupby("labels")["value"].mean()
    )
    drawn = canvas(7.6, 3.6)
    every = drawn.subplots(1, 2, sharey=True)
    for ax, mixture in zip(every, shown, strict=True):
        own = tuned[tuned["mixture"] == mixture]
        lines(ax, own, "labels", "method", looks=looks, errorbar=share_interval, apart=1.05)
        dots(ax, own, "labels", "method", looks, 1.05)
        ax.plot(begun.index, begun, ":", color=PALETTE["untrained"],
                label="fine-tuning, not pre-trained")  # fmt: skip
        labels = sorted(tuned["labels"].unique())
        ax.set(xscale="log", xlabel="labels",
               title="pre-trained on the target" if mixture == 1 else f"pre-trained on {mixture} {what}")  # fmt: skip
        ax.set_xticks(labels, [str(number) for number in labels])
        ax.minorticks_off()
    every[0].set_ylabel(f"target accuracy, n = {tuned['replicate'].nunique()}")
    drawn.legend(*every[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return drawn


@figure("fig-f-8", contains="stand-in")
def maps(maps: pd.DataFrame, purities: pd.DataFrame) -> Figure:
    """Maps of the target's features after a probe, fine-tuning, and the two together with a contrastive loss

    Ours, on vectors: t-SNE of normalised features of test samples, pre-trained on all tasks, tuned on 20 %
    of the labels; colours are classes, whose numbers say nothing but which is which. Below: the share of a sample's
    ten nearest neighbours that have its class, in the features themselves, mean over replicates. A probe does not move
    the features; {{ said("universality/ours-purer", holds="classes lie tighter with the contrastive loss than without",
    fails="classes do not lie tighter with the contrastive loss than without") }}
    (the difference of shares in brackets).
    """
    methods = list(dict.fromkeys(maps["method"]))
    drawn = canvas(min(PAGE, 2.7 * len(methods)), 3.1)
    colours = list(COLOURS.values())
    for ax, method in zip(drawn.subplots(1, len(methods)), methods, strict=True):
        for one, own in maps[maps["method"] == method].groupby("class"):
            ax.plot(own["x"], own["y"], "osD^vPX"[one // len(colours)], markersize=3,
                    markeredgewidth=0, color=colours[one % len(colours)], label=f"{one + 1}")  # fmt: skip
        pure = purities.loc[purities["method"] == method, "value"].mean()
        ax.set(title=LOOKS[method].words if method in LOOKS else method, xlabel=f"neighbours of the class: {pure:.2f}",
               xticks=[], yticks=[])  # fmt: skip
        ax.set_aspect("equal", "datalim")
    keys = {words: line for ax in drawn.axes
            for line, words in zip(*ax.get_legend_handles_labels(), strict=True)}  # fmt: skip
    drawn.legend([keys[one] for one in sorted(keys, key=int)], sorted(keys, key=int), title="class",
                 loc="outside lower center", ncols=10, markerscale=2)  # fmt: skip
    return drawn
