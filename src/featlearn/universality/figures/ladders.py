"""Trade-off curves and similarities of the ladders of vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import seaborn as sns

from featlearn.core.plots import COLOURS, canvas
from featlearn.core.publish import Config, figure
from featlearn.core.statistical import Look, lines
from featlearn.universality.curves import curves

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LOOKS = {"average": Look("average of all tasks", COLOURS["red"]),
         "target": Look("target", COLOURS["blue"], "s")}  # fmt: skip


@figure("fig-f-13", contains="stand-in", percent=100)
@figure("fig-f-12", contains="stand-in", percent=20)
@figure("fig-f-11", contains="stand-in", percent=10)
@figure("fig-f-10", contains="stand-in", percent=5)
@figure("fig-f-9", contains="stand-in", percent=1)
@figure("fig-7-1", contains="stand-in", percent=100)
def trade_off(accuracies: pd.DataFrame, config: Config, percent: int) -> Figure:
    """Average and target accuracy on growing mixtures, {{ percent }} % of the labels

    Ours, on vectors of the linear data model that stand in for pictures: accuracy of converged linear
    probes against the number of tasks in the pre-training, with 95 % intervals; a panel a method and
    width of the representation. *What to see:* with a width of one task's features the average rises
    and the target falls; with more room it falls less. With all labels a linear probe on the raw input,
    in `tables/ladders.md`, is as good as any: what pre-training saves is labels. NNCLR and SimSiam are not
    built on vectors, nor the thesis' three families of data.
    """
    shown = curves(accuracies, config, percent)
    drawn = canvas(2.6 * len(config["arms"]) + 0.6, 3.1)
    every = drawn.subplots(1, len(config["arms"]), sharey=True, squeeze=False)[0]
    for ax, arm in zip(every, config["arms"], strict=True):
        lines(ax, shown[shown["arm"] == arm], "mixture", "curve", looks=LOOKS)
        ax.set(title=arm, xscale="log", xlabel="tasks of the pre-training")
        ax.set_xticks(config["mixtures"], [str(mixture) for mixture in config["mixtures"]])
        ax.minorticks_off()
    every[0].set_ylabel("accuracy")
    drawn.legend(*every[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return drawn


@figure("fig-f-2", contains="stand-in")
def target_against_average(accuracies: pd.DataFrame, config: Config) -> Figure:
    """Target against average accuracy, a curve a share of the labels

    Ours, on vectors that stand in for pictures; points are means, from the pre-training on the target
    alone (a ring) to that on all tasks. *What to see:* with a width of one task's features the curves
    run right and down.
    """
    drawn = canvas(2.6 * len(config["arms"]) + 0.6, 3.3)
    every = drawn.subplots(1, len(config["arms"]), sharey=True, squeeze=False)[0]
    train = config["samples"]["train"]
    colours = sns.color_palette("viridis", len(config["labels"]))
    for ax, arm in zip(every, config["arms"], strict=True):
        for colour, labels in zip(colours, config["labels"], strict=True):
            own = curves(accuracies, config, 100 * labels / train)
            own = own[own["arm"] == arm].pivot_table(
                index="mixture", columns="curve", values="value"
            )
            x, y = own["average"], own["target"]
            ax.plot(x, y, ".-", color=colour, label=f"{100 * labels / train:g} %")
            ax.plot(x.iloc[0], y.iloc[0], "o", color=colour, fillstyle="none", markersize=8)
        ax.set(title=arm, xlabel="average accuracy")
    every[0].set_ylabel("target accuracy")
    drawn.legend(*every[0].get_legend_handles_labels(), loc="outside lower center", ncols=5)
    return drawn


@figure("fig-7-5", contains="stand-in")
def similarity(similarities: pd.DataFrame, config: Config) -> Figure:
    """Similarity of the target's features between growing mixtures

    Ours, on vectors that stand in for pictures: linear CKA (biased, as the thesis has it), mean over
    replicates. Numbers are tasks of the pre-training. Models of single tasks, the left half of the
    thesis' figure, are not built. *What to see:* similarity falls along each row.
    """
    drawn = canvas(2.6 * len(config["arms"]) + 0.6, 2.7)
    every = drawn.subplots(1, len(config["arms"]), squeeze=False)[0]
    for ax, arm in zip(every, config["arms"], strict=True):
        own = similarities[
            (similarities["arm"] == arm) & (similarities["estimator"] == "biased")
        ].pivot_table(index="first", columns="second", values="value")
        sns.heatmap(own, vmin=0, vmax=1, cmap="viridis", annot=True, fmt=".2f", cbar=False, ax=ax)
        ax.set(title=arm, xlabel="tasks", ylabel="tasks" if ax is every[0] else None)
    return drawn
