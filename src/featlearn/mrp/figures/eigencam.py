"""Which parts classifiers use, drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import pandas as pd
from matplotlib.lines import Line2D

from featlearn.core.plots import COLOURS, FILLS, canvas
from featlearn.core.publish import figure
from featlearn.core.statistical import column, whiskers
from featlearn.core.stats import paired
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
    difference depends. Whiskers are 95 % intervals, dots above are replicates. The paper reads off its
    pictures that pre-training raises the first two and lowers the fourth. *What to see:*
    in brackets stands the difference between SimMIM and supervised
    training:
    {{ said("mrp/cam-more-parts", holds="maps hit more parts after SimMIM", fails="maps do not hit more parts after SimMIM") }};
    {{ said("mrp/cam-heat-more-even", holds="their heat is more even", fails="their heat is not more even") }};
    {{ said("mrp/cam-stands-erasure", holds="fewer answers turn wrong by erasing a part",
            fails="no fewer answers turn wrong by erasing a part") }}. The last panel tells whether a map may be
    read as what a prediction rests on at all.
    """
    frame = values[values["test_set"] == "multi_view"]
    gains = part_use_gains(frame)
    panels = {name: words for name, words in PANELS.items() if name in set(frame["quantity"])}
    starts = [start for start in STARTS if start in set(frame["start"])]
    drawn = canvas(8.2, 4.9)
    axes = drawn.subplots(2, len(panels), squeeze=False, height_ratios=[1.15, 1])
    most = frame[frame["labels"] == frame["labels"].max()]
    places = _places(starts)
    counts = sorted(frame["labels"].unique())
    for number, (quantity, (title, chance)) in enumerate(panels.items()):
        top, bottom = axes[:, number]
        _bars(top, most[most["quantity"] == quantity], places)
        if chance is not None:
            top.axhline(chance, color=COLOURS["ink"], linestyle=":", linewidth=1)
        top.set_title(title, fontsize=8.5)
        _differences(bottom, gains[gains["quantity"] == quantity], places, counts)
        top.tick_params(labelbottom=False)
        bottom.set_xticks(list(places.values()), [SHORT[start] for start in places], fontsize=8)
        bottom.tick_params(axis="x", rotation=90, length=0)
        top.set_xlim(-0.7, max(places.values()) + 0.7)
        bottom.set_xlim(top.get_xlim())
    axes[0, 0].set_ylabel("most labels")
    axes[1, 0].set_ylabel("difference from\nsupervised, paired")
    handles = [
        Line2D([], [], linestyle="", marker=marker, color=COLOURS["ink"], label=f"{count} labels",
               markerfacecolor=_face(COLOURS["ink"], count, counts))
        for count, marker in zip(counts, MARKS, strict=False)
    ]  # fmt: skip
    drawn.legend(handles=handles, loc="outside lower center", ncols=len(handles),
                 title=f"{frame['replicate'].nunique()} replicates")  # fmt: skip
    return drawn


#: Marks of the numbers of labels, from the fewest on; the most are filled.
MARKS = ("s", "^", "o", "D", "v")


def _face(colour: str, count: int, counts: Sequence[int]) -> str:
    return colour if count == counts[-1] else FILLS["white"]


def _places(starts: list[str]) -> dict[str, float]:
    """A place on the axis for each start, with a gap between networks."""
    second = next((n for n, start in enumerate(starts) if start == "random-vit"), len(starts))
    return {start: n + 0.6 * (n >= second) for n, start in enumerate(starts)}


def _bars(ax: Axes, frame: pd.DataFrame, places: Mapping[str, float]) -> None:
    for start, x in places.items():
        column(ax, x, frame[frame["start"] == start]["value"], START_COLOURS[start])
    ax.set_ylim(0, None)
    ax.set_xticks(list(places.values()))
    ax.grid(axis="x", visible=False)


def _differences(
    ax: Axes, gains: pd.DataFrame, places: Mapping[str, float], counts: Sequence[int]
) -> None:
    ax.axhline(0, color=COLOURS["ink"], linewidth=0.8)
    for number, (count, marker) in enumerate(zip(counts, MARKS, strict=False)):
        shift = 0.26 * (number - (len(counts) - 1) / 2)
        own = gains[gains["labels"] == count].set_index("start")
        for start in (start for start in places if start in own.index):
            seen, colour = own.loc[start], START_COLOURS[start]
            whiskers(ax, places[start] + shift, seen["difference"], seen["difference_half_width"],
                     colour, marker=marker, filled=count == counts[-1])  # fmt: skip
    ax.grid(axis="x", visible=False)


@figure("cam-by-part")
def parts(by_part: pd.DataFrame) -> Figure:
    """What maps point at, and what counts, part by part

    One dot is one part of one class in one replicate, on multi-view pictures with the most labels. To the
    right: how much heat lies on the part for its size (1 is what even heat would give). Upwards: what the
    score of the true class loses against the best other one when the part is erased. *What to see:* where maps
    tell what counts, dots rise to the right: the number below a panel is the rank correlation of its dots (Spearman's).
    In a network that uses one part of a class only, one of its two dots lies at zero. Within a picture, and more
    often than by chance (in brackets the share beyond it),
    {{ said("mrp/cam-agrees-supervised", holds="the hottest part is the one whose erasure costs the supervised network most",
            fails="the hottest part is not the one whose erasure costs the supervised network most") }};
    {{ said("mrp/cam-agrees-simmim", holds="the same is true after SimMIM",
            fails="the same is not true after SimMIM") }}.
    """
    starts = [start for start in STARTS if start in set(by_part["start"])]
    most = by_part[by_part["labels"] == by_part["labels"].max()]
    drawn = canvas(8.2, 2.7)
    axes = drawn.subplots(1, len(starts), squeeze=False, sharex=True, sharey=True)[0]
    colours = [COLOURS["ink"], COLOURS["red"], COLOURS["grey"], COLOURS["sky"]]
    for ax, start in zip(axes, starts, strict=True):
        wide = most[most["start"] == start].pivot_table(
            index=["replicate", "class", "part"], columns="quantity", values="value"
        )
        for (part, own), colour in zip(wide.groupby(level="part"), colours, strict=False):
            ax.plot(own["heat"], own["margin_drop"], "o", color=colour, ms=3.5, alpha=0.7, mew=0,
                    label=f"part {part} of the class")  # fmt: skip
        ranks = wide["heat"].rank().corr(wide["margin_drop"].rank())
        told = f"\nrank correlation {ranks:.2f}".replace("-", "−") if len(wide) > 2 else ""
        ax.axhline(0, color=COLOURS["ink"], linewidth=0.8)
        ax.set_title(STARTS[start], fontsize=8.5)
        ax.set_xlabel(f"heat for its size{told}", fontsize=8)
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
    here and in common implementations, dotted ones do not, as in the paper on Eigen-CAM. *What to see:* where
    lines of one network cross zero, the sign of the difference follows from the reading: a map's count then
    says more about the reading than about the network.
    That maps hit more parts after SimMIM, read as elsewhere here (last layer, 0.5, centred),
    {{ verdict("mrp/cam-more-parts") }}.
    """
    keys = ["encoder", "layer", "centred", "hit_share"]
    starts = dict(zip(readings["start"], readings["encoder"], strict=True))
    others = {start: f"random-{kind}" for start, kind in starts.items() if "random" not in start}
    gains = paired(readings, keys, "start", others)
    networks = [network for network in ENCODERS if network in set(gains["encoder"])]
    layers = sorted(gains["layer"].unique())
    drawn = canvas(8.2, 2.6 * len(networks) + 0.6)
    # each network by itself: they have not as many layers
    blocks = drawn.subfigures(len(networks), 1, squeeze=False)[:, 0]
    entries: dict[str, Artist] = {}
    for block, network in zip(blocks, networks, strict=True):
        block.suptitle(ENCODERS[network], x=0.01, ha="left", fontsize=9, weight="bold")
        own = gains[gains["encoder"] == network]
        shown = [layer for layer in layers if layer in set(own["layer"])]
        row = block.subplots(1, len(shown), squeeze=False, sharey=True)[0]
        for ax, layer in zip(row, shown, strict=True):
            _reading(ax, own[own["layer"] == layer])
            ax.set_title("last layer" if layer == 0 else f"{-layer} before the last", fontsize=8.5)
            ax.set_xlabel("share of the largest heat\nfrom which a part is hit", fontsize=8)
        row[0].set_ylabel("more parts hit than\nsupervised, paired")
        handles, labels = row[-1].get_legend_handles_labels()
        entries |= dict(zip(labels, handles, strict=True))
    drawn.legend(list(entries.values()), list(entries), loc="outside lower center", ncols=3,
                 title=f"{readings['replicate'].nunique()} replicates")  # fmt: skip
    return drawn


def _reading(ax: Axes, gains: pd.DataFrame) -> None:
    ax.axhline(0, color=COLOURS["ink"], linewidth=0.8)
    for number, (key, own) in enumerate(gains.groupby(["start", "centred"])):
        start, centred = str(key[0]), bool(key[1])
        whiskers(
            ax, own["hit_share"] + 0.014 * (number - 1), own["difference"],
            own["difference_half_width"], START_COLOURS[start], line="-" if centred else ":",
            filled=centred, label=f"{SHORT[start]}, {'' if centred else 'not '}centred",
        )  # fmt: skip
    shares = sorted(gains["hit_share"].unique())
    ax.set_xticks(shares, [f"{share:g}" for share in shares])
