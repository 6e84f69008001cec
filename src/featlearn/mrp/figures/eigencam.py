"""Which parts classifiers use, drawn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from featlearn.core.plots import COLOURS, canvas
from featlearn.core.publish import figure
from featlearn.core.stats import estimate, paired
from featlearn.mrp.figures.images_comparison import ENCODERS, START_COLOURS
from featlearn.mrp.tables.eigencam import PANELS, part_use_gains
from featlearn.mrp.tables.images_comparison import STARTS

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SHORT = {
    "random-cnn": "supervised",
    "simmim": "SimMIM",
    "random-vit": "supervised",
    "mae": "MAE",
    "data2vec": "data2vec",
    "beit": "BEiT-style",
}


@figure("cam-part-use")
def part_use(values: pd.DataFrame) -> Figure:
    """Which parts a classifier uses: counted, and checked by erasing them

    Top, with the most labels on multi-view pictures: parts hit by the map; how evenly the heat lies over
    the parts; how much of it lies on them; the share of right answers that turn wrong when one part is
    erased from the picture, everything else left to the bit; and how often the hottest part is the one
    whose erasure costs most, where the dotted line is chance. Bottom: the difference from supervised
    training of the same network, replicate by replicate, for every number of labels, on which the
    difference depends. Bars and whiskers are 95 % intervals, dots are replicates. *What to see:* whether
    pre-training raises the first two and lowers the fourth, as the paper reads off its pictures; and in
    the last panel whether a map may be read as what a prediction rests on at all.
    """
    frame = values[values["test_set"] == "multi_view"]
    gains = part_use_gains(frame)
    panels = {name: words for name, words in PANELS.items() if name in set(frame["quantity"])}
    starts = [start for start in STARTS if start in set(frame["start"])]
    drawn = canvas(8.2, 4.9)
    axes = drawn.subplots(2, len(panels), squeeze=False, height_ratios=[1.15, 1])
    most = frame[frame["labels"] == frame["labels"].max()]
    places = _places(starts)
    for column, (quantity, (title, chance)) in enumerate(panels.items()):
        top, bottom = axes[:, column]
        _bars(top, most[most["quantity"] == quantity], places)
        if chance is not None:
            top.axhline(chance, color=COLOURS["ink"], linestyle=":", linewidth=1)
        top.set_title(title, fontsize=8.5)
        _differences(bottom, gains[gains["quantity"] == quantity], places)
        top.tick_params(labelbottom=False)
        bottom.set_xticks(list(places.values()), [SHORT[start] for start in places], fontsize=7.5)
        bottom.tick_params(axis="x", rotation=90, length=0)
        top.set_xlim(-0.7, max(places.values()) + 0.7)
        bottom.set_xlim(top.get_xlim())
    axes[0, 0].set_ylabel("most labels")
    axes[1, 0].set_ylabel("difference from\nsupervised, paired")
    handles, labels = axes[1, 0].get_legend_handles_labels()
    drawn.legend(handles, labels, loc="outside lower center", ncols=len(labels))
    return drawn


def _places(starts: list[str]) -> dict[str, float]:
    """A place on the axis for each start, with a gap between networks."""
    second = next((n for n, start in enumerate(starts) if start == "random-vit"), len(starts))
    return {start: n + 0.6 * (n >= second) for n, start in enumerate(starts)}


def _bars(ax: Axes, frame: pd.DataFrame, places: Mapping[str, float]) -> None:
    for start, x in places.items():
        values = frame[frame["start"] == start]["value"].to_numpy()
        seen = estimate(values)
        ax.bar(x, seen.mean, 0.8, color=START_COLOURS[start])
        ax.errorbar(x, seen.mean, seen.half_width, color=COLOURS["ink"], capsize=2, lw=1)
        ax.plot(np.full(len(values), x), values, ".", color=COLOURS["ink"], ms=3, alpha=0.6)
    ax.set_ylim(0, None)
    ax.set_xticks(list(places.values()))
    ax.grid(axis="x", visible=False)


def _differences(ax: Axes, gains: pd.DataFrame, places: Mapping[str, float]) -> None:
    ax.axhline(0, color=COLOURS["ink"], linewidth=0.8)
    counts = sorted(gains["labels"].unique())
    for number, labels in enumerate(counts):
        shift, most = 0.24 * (number - (len(counts) - 1) / 2), labels == counts[-1]
        own = gains[gains["labels"] == labels].set_index("start")
        for row, start in enumerate(start for start in places if start in own.index):
            seen = own.loc[start]
            ax.errorbar(
                places[start] + shift,
                seen["difference"],
                seen["difference_half_width"],
                fmt="o" if most else "s",
                color=START_COLOURS[start],
                markerfacecolor=START_COLOURS[start] if most else "white",
                markersize=4,
                capsize=2,
                label=None if row else f"{labels} labels",
            )
    ax.grid(axis="x", visible=False)


@figure("cam-by-part")
def parts(by_part: pd.DataFrame) -> Figure:
    """What maps point at, and what counts, part by part

    One dot is one part of one class in one replicate, on multi-view pictures with the most labels. To the
    right: how much heat lies on the part for its size (1 is what even heat would give). Upwards: what the
    score of the true class loses against the best other one when the part is erased. *What to see:* in a
    network that uses one part of a class only, one of its two dots lies at zero; if maps told what counts,
    dots would rise to the right.
    """
    starts = [start for start in STARTS if start in set(by_part["start"])]
    most = by_part[by_part["labels"] == by_part["labels"].max()]
    drawn = canvas(8.2, 2.5)
    axes = drawn.subplots(1, len(starts), squeeze=False, sharex=True, sharey=True)[0]
    colours = [COLOURS["blue"], COLOURS["orange"], COLOURS["green"], COLOURS["purple"]]
    for ax, start in zip(axes, starts, strict=True):
        wide = most[most["start"] == start].pivot_table(
            index=["replicate", "class", "part"], columns="quantity", values="value"
        )
        for (part, own), colour in zip(wide.groupby(level="part"), colours, strict=False):
            ax.plot(own["heat"], own["margin_drop"], "o", color=colour, ms=3.5, alpha=0.7, mew=0,
                    label=f"part {part} of the class")  # fmt: skip
        ax.axhline(0, color=COLOURS["ink"], linewidth=0.8)
        ax.set_title(STARTS[start], fontsize=8.5)
        ax.set_xlabel("heat for its size", fontsize=8)
    axes[0].set_ylabel("margin lost when erased")
    handles, labels = axes[0].get_legend_handles_labels()
    drawn.legend(handles, labels, loc="outside lower center", ncols=len(labels))
    return drawn


@figure("cam-readings")
def ways_to_read(readings: pd.DataFrame) -> Figure:
    """Does the count of parts hang on how a map is read?

    More parts hit a multi-view picture than by the supervised network of the same kind, with the most
    labels, replicate by replicate with 95 % intervals. From left to right the layer that the map is read
    from; along the axis the share of the picture's largest heat from which on a part counts as hit (0.5
    elsewhere); solid lines take each channel's mean off before the leading direction is found, as elsewhere
    here and in common implementations, dotted ones do not, as in the paper on Eigen-CAM. *What to see:*
    whether the sign of a difference survives these choices. Where it does not, a map's count says more about
    the reading than about the network.
    """
    keys = ["encoder", "layer", "centred", "hit_share"]
    starts = dict(zip(readings["start"], readings["encoder"], strict=True))
    others = {start: f"random-{kind}" for start, kind in starts.items() if "random" not in start}
    gains = paired(readings, keys, "start", others)
    networks = [network for network in ENCODERS if network in set(gains["encoder"])]
    layers = sorted(gains["layer"].unique())
    drawn = canvas(8.2, 2.3 * len(networks) + 0.6)
    axes = drawn.subplots(len(networks), len(layers), squeeze=False, sharey=True, sharex=True)
    for row, network in zip(axes, networks, strict=True):
        for ax, layer in zip(row, layers, strict=True):
            own = gains[(gains["encoder"] == network) & (gains["layer"] == layer)]
            if own.empty:
                ax.set_axis_off()
                continue
            _reading(ax, own)
            ax.set_title("last layer" if layer == 0 else f"{-layer} before the last", fontsize=8.5)
        row[-1].set_title(f"{ENCODERS[network]}\nlast layer", fontsize=8.5)
        next(ax for ax in row if ax.axison).set_ylabel("more parts hit than\nsupervised, paired")
    for ax in axes[-1]:
        ax.set_xlabel("share of the largest heat\nfrom which a part is hit")
    entries: dict[str, Artist] = {}
    for ax in axes[:, -1]:
        handles, labels = ax.get_legend_handles_labels()
        entries |= dict(zip(labels, handles, strict=True))
    drawn.legend(list(entries.values()), list(entries), loc="outside lower center", ncols=3)
    return drawn


def _reading(ax: Axes, gains: pd.DataFrame) -> None:
    ax.axhline(0, color=COLOURS["ink"], linewidth=0.8)
    for number, (key, own) in enumerate(gains.groupby(["start", "centred"])):
        start, centred = str(key[0]), bool(key[1])
        ax.errorbar(
            own["hit_share"] + 0.012 * (number - 1),
            own["difference"],
            own["difference_half_width"],
            color=START_COLOURS[start],
            linestyle="-" if centred else ":",
            marker="o",
            markersize=3,
            capsize=2,
            label=f"{SHORT[start]}, {'' if centred else 'not '}centred",
        )
    ax.set_xticks(sorted(gains["hit_share"].unique()))
