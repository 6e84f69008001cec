"""Probes and fine-tuning from growing mixtures, and maps of features."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import seaborn as sns

from featlearn.core.plots import COLOURS, PAGE, canvas
from featlearn.core.publish import figure
from featlearn.core.statistical import Look, lines, share_interval
from featlearn.universality.words import CR, FT, LP, ours

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LOOKS = {LP: Look(LP, COLOURS["blue"], "s"), CR: Look(CR, COLOURS["sky"], "v"),
         FT: Look(FT, COLOURS["orange"]), ours(0.1): Look(ours(0.1), COLOURS["green"], "^"),
         ours(1): Look(ours(1), COLOURS["red"], "D")}  # fmt: skip


@figure("remedy")
def by_labels(tuned: pd.DataFrame) -> Figure:
    """Target accuracy against labels, after a pre-training on the target alone and on all tasks

    Ours, on vectors (MoCo, width 8). LP: a converged linear probe. FT: fine-tuning of the whole network.
    Ours: fine-tuning with the contrastive loss, at the weight named. CR then LP: the contrastive loss alone
    on the target's unlabelled samples, then a probe. 95 % intervals. After all tasks and with all labels fine-tuning
    {{ said("universality/fine-tuning-wins-many", holds="beats a probe", fails="does not beat a probe") }};
    after the target alone and with 5 % of them a probe
    {{ said("universality/probe-wins-few", holds="beats fine-tuning", fails="does not beat fine-tuning") }}. Tuned with the
    contrastive loss, networks {{ said("universality/fine-tuning-forgets-diversity",
    holds="hardly fall as the pre-training grows", fails="fall as the pre-training grows") }}.
    """
    return drawn_by_labels(tuned, "tasks")


def drawn_by_labels(tuned: pd.DataFrame, what: str) -> Figure:
    """A panel for the pre-training on the target and one for that on all ``what``."""
    mixtures = sorted(set(tuned["mixture"]) - {0})
    shown = (mixtures[0], mixtures[-1])
    looks = {name: look for name, look in LOOKS.items() if name in set(tuned["method"])}
    drawn = canvas(7.6, 3.4)
    every = drawn.subplots(1, 2, sharey=True)
    for ax, mixture in zip(every, shown, strict=True):
        lines(ax, tuned[tuned["mixture"] == mixture], "labels", "method", looks=looks,
              errorbar=share_interval, apart=1.05)  # fmt: skip
        labels = sorted(tuned["labels"].unique())
        ax.set(xscale="log", xlabel="labels",
               title="pre-trained on the target" if mixture == 1 else f"pre-trained on {mixture} {what}")  # fmt: skip
        ax.set_xticks(labels, [str(number) for number in labels])
        ax.minorticks_off()
    every[0].set_ylabel("target accuracy")
    drawn.legend(*every[0].get_legend_handles_labels(), loc="outside lower center", ncols=5)
    return drawn


@figure("fig-f-8", contains="stand-in")
def maps(maps: pd.DataFrame, purities: pd.DataFrame) -> Figure:
    """Maps of the target's features after a probe, fine-tuning, and the two together with a contrastive loss

    Ours, on vectors: t-SNE of normalised features of test samples, pre-trained on all tasks, tuned on 20 %
    of the labels; colours are classes. In brackets: the share of a sample's ten nearest neighbours that have
    its class, in the features themselves, mean over replicates. A probe does not move the features; classes
    {{ said("universality/ours-purer", holds="lie tighter", fails="do not lie tighter") }} with the contrastive loss than without.
    """
    methods = list(dict.fromkeys(maps["method"]))
    drawn = canvas(min(PAGE, 2.5 * len(methods)), 2.9)
    for ax, method in zip(drawn.subplots(1, len(methods)), methods, strict=True):
        own = maps[maps["method"] == method]
        colours = sns.color_palette("husl", own["class"].max() + 1)
        ax.scatter(own["x"], own["y"], s=5, c=[colours[one] for one in own["class"]])
        pure = purities.loc[purities["method"] == method, "value"].mean()
        ax.set(title=f"{method} ({pure:.2f})", xticks=[], yticks=[])
        ax.set_aspect("equal", "datalim")
    return drawn
