"""Trade-off curves and similarities of the ladders of vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import seaborn as sns

from featlearn.core.plots import COLOURS, PAGE, canvas
from featlearn.core.publish import Config, figure
from featlearn.core.statistical import Look, lines, share_interval
from featlearn.universality.curves import curves
from featlearn.universality.words import KEPT, WORLD

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LOOKS = {"average": Look("average of a task a rung", COLOURS["red"]),
         "weighted": Look("average, weighted as in the thesis", COLOURS["orange"], "^"),
         "target": Look("target", COLOURS["blue"], "s")}  # fmt: skip
#: The three methods of the thesis' grids.
METHODS = (KEPT, "NNCLR, 8", "SimSiam, 8")
#: What the config's methods are called.
NAMES = {"simclr": "SimCLR", "moco": "MoCo", "nnclr": "NNCLR", "simsiam": "SimSiam"}


def _panels(config: Config, arms: Sequence[str], every: bool) -> list[list[tuple[str, str]]]:
    """Worlds below each other, arms beside each other; one arm in several worlds is a row."""
    worlds = list(config["worlds"]) if every else [WORLD]
    grid = [[(world, arm) for arm in arms] for world in worlds]
    return [[cell for row in grid for cell in row]] if len(arms) == 1 else grid


def _grid(panels: list[list[tuple[str, str]]], height: float) -> tuple[Figure, np.ndarray]:
    rows, columns = len(panels), len(panels[0])
    drawn = canvas(min(PAGE, 2.6 * columns + 0.6), height * rows + 0.8)
    every = drawn.subplots(rows, columns, sharey="row", squeeze=False)
    for row, cells in zip(every, panels, strict=True):
        for ax, (world, arm) in zip(row, cells, strict=True):
            ax.set_title(f"{arm}; {world}")
    return drawn, every


def _legend(drawn: Figure, ax: Axes, columns: int) -> None:
    drawn.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=columns)


@figure("fig-f-13", contains="stand-in", percent=100, every=True,
        arms=("MoCo, 8", "NNCLR, 8", "SimSiam, 8"))  # fmt: skip
@figure("fig-f-12", contains="stand-in", percent=20, every=True,
        arms=("MoCo, 8", "NNCLR, 8", "SimSiam, 8"))  # fmt: skip
@figure("fig-f-11", contains="stand-in", percent=10, every=True,
        arms=("MoCo, 8", "NNCLR, 8", "SimSiam, 8"))  # fmt: skip
@figure("fig-f-10", contains="stand-in", percent=5, every=True,
        arms=("MoCo, 8", "NNCLR, 8", "SimSiam, 8"))  # fmt: skip
@figure("fig-f-9", contains="stand-in", percent=1, every=True,
        arms=("MoCo, 8", "NNCLR, 8", "SimSiam, 8"))  # fmt: skip
@figure("room", percent=100, arms=("MoCo, 8", "MoCo, 32"), every=False)
@figure("fig-7-4", contains="stand-in", percent=100, arms=("SimCLR, 8", "SimSiam, 8"), every=False)
@figure("fig-7-3", contains="stand-in", percent=100, arms=("MoCo, 8",), every=True)
@figure("fig-7-1", contains="stand-in", percent=100, arms=("MoCo, 8",), every=False)
def trade_off(
    accuracies: pd.DataFrame, config: Config, percent: int, arms: Sequence[str], every: bool
) -> Figure:
    """Average and target accuracy on growing mixtures, {{ percent }} % of the labels

    Ours, on vectors of the linear data model that stand in for pictures: accuracy of converged linear
    probes against the number of tasks in the pre-training, with 95 % intervals, drawn beside each other. A panel a method, width
    of the representation and world; worlds differ in how many features of a task are shared, and stand in
    for the thesis' three families of data. The second average has the thesis' weights by classes, of which
    94 % lie on what the last step adds; both are over one task of each rung. With all labels, MoCo at the width of
    one task's features and as many shared features as private ones, the average
    {{ said("universality/average-rises", holds="rises", fails="does not rise") }} and the target
    {{ said("universality/target-falls", holds="falls", fails="does not fall by .02") }}; with room for all it
    {{ said("universality/no-trade-off-with-room", holds="does not fall", fails="falls, a little") }}. What needs no
    pre-training stands in `tables/ladders.md`, the raw input and the oracle among it: labels are linear in the
    features, so that what can be saved is labels.
    """
    shown = curves(accuracies, config, percent)
    panels = _panels(config, arms, every)
    drawn, axes = _grid(panels, 2.4)
    for row, cells in zip(axes, panels, strict=True):
        for ax, (world, arm) in zip(row, cells, strict=True):
            own = shown[(shown["arm"] == arm) & (shown["world"] == world)]
            lines(ax, own, "mixture", "curve", looks=LOOKS, errorbar=share_interval, apart=1.06)
            ax.set(xscale="log")
            ax.set_xticks(config["mixtures"], [str(mixture) for mixture in config["mixtures"]])
            ax.minorticks_off()
        row[0].set_ylabel("accuracy")
    for ax in axes[-1]:
        ax.set_xlabel("tasks of the pre-training")
    _legend(drawn, axes[0][0], 1 if len(panels[0]) == 1 else 3)
    return drawn


@figure("fig-f-2", contains="stand-in")
def target_against_average(accuracies: pd.DataFrame, config: Config) -> Figure:
    """Target against average accuracy, a curve a share of the labels

    Ours, on vectors that stand in for pictures; points are means, from the pre-training on the target
    alone (a ring) to that on all tasks. Rows are worlds, which stand in for the thesis' three families of
    data. *What to see:* curves that run right and down are a trade-off.
    """
    panels = _panels(config, METHODS, every=True)
    drawn, axes = _grid(panels, 2.4)
    train = config["samples"]["train"]
    colours = sns.color_palette("viridis", len(config["labels"]))
    for colour, labels in zip(colours, config["labels"], strict=True):
        shown = curves(accuracies, config, 100 * labels / train)
        for row, cells in zip(axes, panels, strict=True):
            for ax, (world, arm) in zip(row, cells, strict=True):
                own = shown[(shown["arm"] == arm) & (shown["world"] == world)]
                wide = own.pivot_table(index="mixture", columns="curve", values="value")
                x, y = wide["average"], wide["target"]
                ax.plot(x, y, ".-", color=colour, label=f"{100 * labels / train:g} %")
                ax.plot(x.iloc[0], y.iloc[0], "o", color=colour, fillstyle="none", markersize=8)
    for row in axes:
        row[0].set_ylabel("target accuracy")
    for ax in axes[-1]:
        ax.set_xlabel("average accuracy")
    _legend(drawn, axes[0][0], 5)
    return drawn


@figure("fig-f-4", contains="stand-in", kind="decay")
@figure("fig-f-3", contains="stand-in", kind="both")
@figure("fig-7-5", contains="stand-in", kind="world")
def similarity(similarities: pd.DataFrame, config: Config, kind: str) -> Figure:
    """Similarity of the target's features between networks

    Ours, on vectors that stand in for pictures: linear CKA (biased, as the thesis has it), mean over
    replicates, of MoCo at width 8. *only 2* was pre-trained on the second task alone; numbers are tasks of
    growing mixtures, or weight decays (ours is decoupled, in Adam). From the target alone to all tasks, features
    {{ said("universality/similarity-falls", holds="change", fails="stay alike") }} (CKA, as many shared as private). In the linear theory it does, and networks
    that saw single other tasks all keep the shared features alone, so that they would be alike.
    """
    ladder = [str(mixture) for mixture in config["mixtures"]]
    alone = [f"only {task + 2}" for task in range(config["alone"])]
    last = ladder[-1]
    worlds = list(config["worlds"]) if kind == "both" else [WORLD]
    if kind == "decay":
        grid = [[("weight decay", WORLD, [f"{decay:g}" for decay in config["decays"]])]]
    else:
        parts = ([ladder[0], *alone, last], ladder)
        grid = [[(KEPT, world, part) for world in worlds] for part in parts]
    if kind == "world":
        grid = [[grid[0][0], grid[1][0]]]
    drawn = canvas(min(PAGE, 2.9 * len(grid[0]) + 0.8), 2.8 * len(grid))
    axes = drawn.subplots(len(grid), len(grid[0]), squeeze=False)
    biased = similarities[similarities["estimator"] == "biased"]
    for row, cells in zip(axes, grid, strict=True):
        for ax, (arm, world, names) in zip(row, cells, strict=True):
            own = biased[(biased["arm"] == arm) & (biased["world"] == world)]
            own = own.pivot_table(index="first", columns="second", values="value")
            own = own.loc[names, names]
            sns.heatmap(own, vmin=0, vmax=1, cmap="viridis", annot=True, fmt=".2f", cbar=False,
                        annot_kws={"size": 8}, ax=ax)  # fmt: skip
            what = "weight decay" if kind == "decay" else "tasks"
            of = "growing mixtures" if names == ladder else "single tasks and all"
            ax.set(title=f"MoCo; {world}" if kind == "decay" else f"MoCo; {world}\n{of}",
                   xlabel=what, ylabel=what if ax is row[0] else None)  # fmt: skip
            ax.tick_params(labelsize=8, rotation=0)
    return drawn
