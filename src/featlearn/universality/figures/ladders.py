"""Trade-off curves and similarities of the ladders of vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.transforms import offset_copy

from featlearn.core.plots import COLOURS, PAGE, PALETTE, canvas
from featlearn.core.publish import Config, figure
from featlearn.core.statistical import FEW, LEAST, Look, bars, lines, share_interval, whiskers
from featlearn.core.stats import summary
from featlearn.universality.curves import changes, curves
from featlearn.universality.words import KEPT, METHODS, OPPONENTS, WORLD

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LOOKS = {"average": Look("average over tasks", COLOURS["red"]),
         "weighted": Look("average, weighted as in the thesis", COLOURS["orange"], "^"),
         "target": Look("target task", COLOURS["blue"], "s")}  # fmt: skip
#: What the config's methods are called.
NAMES = {"simclr": "SimCLR", "moco": "MoCo", "nnclr": "NNCLR", "simsiam": "SimSiam"}
#: From few labels to many: not a map of colours, whose light end is no line on white.
SHARES = [COLOURS[name] for name in ("ink", "purple", "blue", "green", "orange", "red")]


def _world(config: Config, world: str) -> str:
    own = config["worlds"][world]
    return f"{own['shared']} shared, {own['private']} private"


def _arm(arm: str) -> str:
    return f"{arm} dimensions"


def _panels(config: Config, arms: Sequence[str], every: bool) -> list[list[tuple[str, str]]]:
    """Worlds below each other, arms beside each other; one arm in several worlds is a row."""
    worlds = list(config["worlds"]) if every else [WORLD]
    grid = [[(world, arm) for arm in arms] for world in worlds]
    return [[cell for row in grid for cell in row]] if len(arms) == 1 else grid


def _grid(panels: list[list[tuple[str, str]]], more: int = 0) -> tuple[Figure, np.ndarray]:
    """Axes for the panels, with ``more`` columns at their right."""
    rows, columns = len(panels), len(panels[0])
    drawn = canvas(min(PAGE, 2.6 * (columns + more) + 0.6), 2.3 * rows + 0.9)
    every = drawn.subplots(rows, columns + more, squeeze=False)
    for row in every:
        for ax in row[1:columns]:
            ax.sharey(row[0])
            ax.tick_params(labelleft=False)
    return drawn, every


def _name(
    axes: np.ndarray,
    panels: list[list[tuple[str, str]]],
    accuracies: pd.DataFrame,
    config: Config,
    what: str,
) -> list[str]:
    """Titles above the columns, and the rest with ``what`` at the left; short names of columns."""
    counts = accuracies.groupby("world")["replicate"].nunique()

    def of(world: str) -> str:
        return f"{_world(config, world)}, n = {counts[world]}"

    own = panels[0]
    if len({world for world, _ in own}) > 1:
        names = [of(world).replace(", ", "\n") for world, _ in own]
        titles = ["\nn".join(of(world).split(", n")) for world, _ in own]
        beside = [_arm(own[0][1])]
    else:
        methods, widths = zip(*(arm.split(", ") for _, arm in own), strict=True)
        names = [f"{width} dimensions" for width in widths] if len({*widths}) > 1 else [*methods]
        titles = [_arm(arm) for _, arm in own]
        beside = [of(cells[0][0]) for cells in panels]
    for ax, title in zip(axes[0], titles, strict=False):
        ax.set_title(title)
    for row, words in zip(axes, beside, strict=True):
        row[0].set_ylabel(f"{words}\n{what}")
    return names


def _legend(drawn: Figure, ax: Axes, columns: int) -> None:
    drawn.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=columns)


def dots(
    ax: Axes, frame: pd.DataFrame, x: str, hue: str, looks: Mapping[str, Look], apart: float = 1.0
) -> None:
    """A dot a replicate beside the whiskers of :func:`lines`, where replicates are few."""
    if frame["replicate"].nunique() > FEW:
        return
    beside = offset_copy(ax.transData, ax.get_figure(root=True), x=4, units="points")
    for place, (key, look) in enumerate(looks.items()):
        own = frame[frame[hue] == key]
        ax.plot(own[x] * apart ** (place - (len(looks) - 1) / 2), own["value"], ".", markersize=5,
                color=look.colour, alpha=0.6, markeredgewidth=0, transform=beside)  # fmt: skip


@figure("fig-f-13", contains="stand-in", percent=100, every=True,
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
    probes against the number of tasks in the pre-training, with 95 % intervals. *Dimensions* are those of the
    representation; worlds differ in how many features of a task are shared, and stand in for the thesis' three
    families of data. Averages are over one task of each rung; the thesis' weights lie to 94 % on what the last
    step adds. Last panel of a row: all tasks less the target alone, replicate by replicate, a dot each.
    {% if "MoCo, 8" in {{ arms }} %}With MoCo at the width of one task's features, as many of them shared as private, and with differences in
    brackets, {{ said("universality/average-rises", holds="the average rises", fails="the average does not rise by .05") }} and
    {{ said("universality/target-falls", holds="the target falls", fails="the target does not fall by .02") }}.
    {% else %}With as many shared features as private ones target and average change by
    {% for arm in {{ arms }} %}{{ ", by " if not loop.first }}{{ value("changes", world="even", arm=arm, quantity="target",
    percent={{ percent }}) }} and {{ value("changes", world="even", arm=arm, quantity="average",
    percent={{ percent }}) }} ({{ arm.split(",")[0] }}){% endfor %}.
    {% endif %}{% if "MoCo, 32" in {{ arms }} %}With room for all features
    {{ said("universality/no-trade-off-with-room", holds="the target does not fall", fails="the target still falls") }}.
    {% endif %}{% if "NNCLR, 8" in {{ arms }} %}Both, with paired intervals that do not hold zero, are seen in {{ value("trade-offs", "both",
    percent={{ percent }}) }} of {{ value("trade-offs", "panels", percent={{ percent }}) }} panels.
    {% endif %}Dotted: the target by the best of what learns nothing.
    {% if "MoCo, 8" in {{ arms }} %}{{ said("universality/learned-not-raw-all-labels",
    holds="MoCo's representation of the target leads it by .05 or more",
    fails="MoCo's representation of the target does not lead it by .05") }}. {% endif %}After all tasks the lead of
    {{ {{ arms }}[0] }} dimensions, is {{ value("changes", world="even", arm={{ arms }}[0], quantity="lead after all tasks",
    percent={{ percent }}) }} (below zero: it is behind). Labels are linear in the features, so that what can be saved is
    labels. Figure 7.1 is one panel; Figure 7.3 adds two worlds to it, F.13 two methods, *room* a wider representation.
    """
    return _trade_off(accuracies, config, percent, _panels(config, arms, every))


@figure("fig-f-12", contains="stand-in", percent=20)
@figure("fig-f-11", contains="stand-in", percent=10)
@figure("fig-f-10", contains="stand-in", percent=5)
@figure("fig-f-9", contains="stand-in", percent=1)
def few_labels(accuracies: pd.DataFrame, config: Config, percent: int) -> Figure:
    """Average and target accuracy on growing mixtures, {{ percent }} % of the labels

    As Figure F.13, which has all labels, with {{ percent }} % of them; on vectors that stand in for pictures. Last panel
    of a row: all tasks less the target alone, replicate by replicate, a dot each, with 95 % intervals. The
    interval lies below zero for the target in {{ value("trade-offs", "target falls", percent={{ percent }}) }} and above it for
    the average in {{ value("trade-offs", "average rises", percent={{ percent }}) }} of {{ value("trade-offs", "panels",
    percent={{ percent }}) }} panels, both in {{ value("trade-offs", "both", percent={{ percent }}) }}: elsewhere no trade-off is
    seen. With as many shared features as private ones target and average change by
    {% for arm in ("MoCo, 8", "NNCLR, 8", "SimSiam, 8") %}{{ ", by " if not loop.first }}{{ value("changes", world="even",
    arm=arm, quantity="target", percent={{ percent }}) }} and {{ value("changes", world="even",
    arm=arm, quantity="average", percent={{ percent }}) }} ({{ arm.split(",")[0] }}){% endfor %}.
    {% if {{ percent }} == 5 %}There, with MoCo and with differences in brackets,
    {{ said("universality/average-rises-few-labels", holds="the average rises", fails="the average does not rise by .05") }},
    {{ said("universality/target-falls-few-labels", holds="the target falls", fails="the target does not fall by .02") }}, and
    {{ said("universality/falls-more-with-few-labels", holds="it falls more than with all labels, as the thesis says",
    fails="it falls less than with all labels, where the thesis says more") }}.
    {% endif %}Dotted: the target by the best of what learns nothing; there MoCo's target is ahead of it by
    {{ value("changes", world="even", arm="MoCo, 8", quantity="lead after the target", percent={{ percent }}) }} after the target alone and by
    {{ value("changes", world="even", arm="MoCo, 8", quantity="lead after all tasks", percent={{ percent }}) }} after all tasks (below zero: behind).
    """
    return _trade_off(accuracies, config, percent, _panels(config, METHODS, every=True))


def _trade_off(
    accuracies: pd.DataFrame, config: Config, percent: int, panels: list[list[tuple[str, str]]]
) -> Figure:
    shown = curves(accuracies, config, percent)
    drawn, axes = _grid(panels, more=1)
    nothing = shown[shown["arm"].isin(OPPONENTS) & (shown["curve"] == "target")]
    floors = nothing.groupby(["arm", "world"])["value"].mean()
    best = str(floors.groupby("arm").mean().idxmax())
    changed = changes(shown)
    for row, cells in zip(axes, panels, strict=True):
        for ax, (world, arm) in zip(row, cells, strict=False):
            own = shown[(shown["arm"] == arm) & (shown["world"] == world)]
            lines(ax, own, "mixture", "curve", looks=LOOKS, errorbar=share_interval, apart=1.06)
            ax.axhline(floors[best, world], linestyle=":", color=PALETTE["untrained"],
                       label=f"target task, {best}: best that learns nothing")  # fmt: skip
            ax.set(xscale="log")
            ax.set_xticks(config["mixtures"], [str(mixture) for mixture in config["mixtures"]])
            ax.minorticks_off()
    names = _name(axes, panels, accuracies, config, "accuracy")
    for row, cells in zip(axes, panels, strict=True):
        own = changed.assign(cell=changed[["world", "arm"]].apply(tuple, axis=1))
        bars(row[-1], own, "cell", "quantity", groups=dict(zip(cells, names, strict=True)),
             looks={key: LOOKS[key] for key in ("average", "target")})  # fmt: skip
        row[-1].set_ylabel("change of the accuracy")
        row[-1].axhline(0, color=COLOURS["ink"], linewidth=0.8)
    axes[0][-1].set_title(f"{max(config['mixtures'])} tasks less 1")
    for ax in axes[-1][:-1]:
        ax.set_xlabel("tasks of the pre-training")
    _legend(drawn, axes[0][0], 2)
    return drawn


@figure("fig-f-2", contains="stand-in")
def target_against_average(accuracies: pd.DataFrame, config: Config) -> Figure:
    """Target against average accuracy, a curve a share of the labels

    Ours, on vectors that stand in for pictures; points are means with 95 % intervals, from the pre-training on
    the target alone (a ring) to that on all tasks. Rows are worlds, which stand in for the thesis' three
    families of data. *What to see:* curves that run right and down are a trade-off. Whiskers are of single
    points; in pairs a trade-off is sure with all labels in {{ value("trade-offs", "both", percent=100) }} and with 1 % of them in
    {{ value("trade-offs", "both", percent=1) }} of {{ value("trade-offs", "panels", percent=100) }} panels (`tables/changes.md`).
    """
    panels = _panels(config, METHODS, every=True)
    drawn, axes = _grid(panels)
    train = config["samples"]["train"]
    for colour, labels in zip(SHARES, config["labels"], strict=False):
        shown = curves(accuracies, config, 100 * labels / train)
        for row, cells in zip(axes, panels, strict=True):
            for ax, (world, arm) in zip(row, cells, strict=True):
                own = shown[(shown["arm"] == arm) & (shown["world"] == world)]
                means = summary(own, ["mixture", "curve"])
                means = means.assign(
                    half_width=means["half_width"].where(means["replicates"] >= LEAST)
                )
                x, y = (means[means["curve"] == curve] for curve in ("average", "target"))
                whiskers(ax, x["mean"], y["mean"], y["half_width"], colour, marker=".", line="-",
                         label=f"{100 * labels / train:g} % of the labels")  # fmt: skip
                whiskers(ax, x["mean"], y["mean"], x["half_width"], colour, marker=".", across=True)
                ax.plot(x["mean"].iloc[0], y["mean"].iloc[0], "o", color=colour, fillstyle="none",
                        markersize=8)  # fmt: skip
    _name(axes, panels, accuracies, config, "target accuracy")
    for ax in axes[-1]:
        ax.set_xlabel("average accuracy")
    _legend(drawn, axes[0][0], 5)
    return drawn


@figure("fig-f-3", contains="stand-in", every=True)
@figure("fig-7-5", contains="stand-in", every=False)
def similarity(similarities: pd.DataFrame, config: Config, every: bool) -> Figure:
    """Similarity of the target's features between networks

    Ours, on vectors that stand in for pictures: linear CKA (biased, as the thesis has it), mean over
    replicates, of MoCo with 8 dimensions; shades run from the least of the figure to 1. *only 2* was pre-trained
    on the second task alone; numbers are tasks of growing mixtures. From the target alone to all tasks, with as many shared features
    as private ones and their CKA in brackets, {{ said("universality/similarity-falls", holds="features change",
    fails="features stay alike") }}. In the linear theory they do, and networks
    that saw single other tasks all keep the shared features alone, so that they would be alike.
    """
    ladder = [str(mixture) for mixture in config["mixtures"]]
    parts = {"single tasks and all": [ladder[0], *(f"only {task + 2}" for task in range(config["alone"])), ladder[-1]],
             "growing mixtures": ladder}  # fmt: skip
    cells = [(world, KEPT, f"{_world(config, world)}\n{of}", names) for of, names in parts.items()
             for world in (config["worlds"] if every else [WORLD])]  # fmt: skip
    return _heated(similarities, cells, len(parts) if every else 1, "tasks of the pre-training")


@figure("fig-f-4", contains="stand-in")
def weight_decay(similarities: pd.DataFrame, config: Config) -> Figure:
    """Similarity of the target's features between networks of several weight decays

    Ours, on vectors that stand in for pictures: linear CKA (biased, as the thesis has it), mean over replicates,
    of MoCo with 8 dimensions, pre-trained on the target alone with a weight decay that is decoupled, in Adam.
    Shades run from the least of the figure to 1: what looks far apart may be alike by the numbers. In the
    thesis the further apart the weight decays, the less alike the features.
    """
    names = [f"{decay:g}" for decay in config["decays"]]
    cell = (WORLD, "weight decay", _world(config, WORLD), names)
    return _heated(similarities, [cell], 1, "weight decay")


def _heated(
    similarities: pd.DataFrame,
    cells: Sequence[tuple[str, str, str, list[str]]],
    rows: int,
    what: str,
) -> Figure:
    """A matrix for each world, arm, title and names of networks."""
    biased = similarities[similarities["estimator"] == "biased"]
    wide = [biased[(biased["world"] == world) & (biased["arm"] == arm)]
            .pivot_table(index="first", columns="second", values="value").loc[names, names]
            for world, arm, _, names in cells]  # fmt: skip
    least = min(own.to_numpy().min() for own in wide)
    columns = len(cells) // rows
    drawn = canvas(min(PAGE, 2.9 * columns + 0.8), 2.8 * rows)
    # on all of these shades ink can be read
    shades = sns.light_palette(COLOURS["sky"], as_cmap=True)
    axes = drawn.subplots(rows, columns, squeeze=False).flat
    for at, (ax, own, (_, _, title, _)) in enumerate(zip(axes, wide, cells, strict=True)):
        sns.heatmap(own, vmin=least, vmax=1, cmap=shades, annot=True, cbar=False, ax=ax,
                    fmt=".2f" if least < 0.9 else ".3f",
                    annot_kws={"size": 8, "color": COLOURS["ink"]})  # fmt: skip
        ax.set(title=title, xlabel=what, ylabel=None if at % columns else what)
        ax.tick_params(labelsize=8, rotation=0)
    return drawn
