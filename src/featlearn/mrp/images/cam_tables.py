"""Part use in tables and bars, and Table 1 in the paper's form. Reads frames, imports no torch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from featlearn.core.plots import COLOURS, canvas
from featlearn.core.prose import plus_minus
from featlearn.core.stats import estimate
from featlearn.core.summary import paired
from featlearn.mrp.images.figures import ENCODERS, START_COLOURS
from featlearn.mrp.images.tables import STARTS, means

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Quantities of the figure, in words, with the value by chance or of even heat where there is one.
PANELS: dict[str, tuple[str, float | None]] = {
    "hits": ("parts hit\na picture", None),
    "entropy": ("evenness of heat\nover the parts", None),
    "heat_share": ("share of heat\non the parts", None),
    "flipped": ("wrong after erasing\na part (share)", None),
    "matched": ("hottest part\ncounts most", 0.5),
}
SHORT = {
    "random-cnn": "supervised",
    "simmim": "SimMIM",
    "random-vit": "supervised",
    "mae": "MAE",
    "data2vec": "data2vec",
    "beit": "BEiT-style",
}


# --------------------------------------------------------------------------- part use


def part_use_table(measured: pd.DataFrame) -> pd.DataFrame:
    """Every quantity, and its paired difference from supervised training of the same network.

    Parameters
    ----------
    measured
        Columns start, encoder, labels, test_set, quantity, value, replicate.

    Returns
    -------
    DataFrame
        Columns start, method, encoder, labels, test_set, quantity, mean, low, high, half_width,
        replicates, difference, difference_half_width (both NaN for supervised training).
    """
    keys = ["start", "encoder", "labels", "test_set", "quantity"]
    table = means(measured, keys)
    table.insert(1, "method", table["start"].map(lambda start: STARTS.get(start, start)))
    return table.merge(part_use_gains(measured), how="left", on=keys)


def part_use_gains(measured: pd.DataFrame) -> pd.DataFrame:
    """Paired differences of every start from supervised training of the same network."""
    starts = dict(zip(measured["start"], measured["encoder"], strict=True))
    references = {start: f"random-{kind}" for start, kind in starts.items()}
    others = {start: one for start, one in references.items() if start != one}
    return paired(measured, ["encoder", "labels", "test_set", "quantity"], "start", others)


def wide_part_use(table: pd.DataFrame) -> pd.DataFrame:
    """Multi-view pictures, for reading: a row a start and number of labels."""
    rows = []
    for (method, labels), own in table[table["test_set"] == "multi_view"].groupby(
        ["method", "labels"], sort=False
    ):
        seen = own.set_index("quantity")
        row = {"method": method, "labels": labels}
        for quantity, (words, _) in PANELS.items():
            if quantity in seen.index:
                one = seen.loc[quantity].to_dict()
                row[words.replace("\n", " ")] = plus_minus(one["mean"], one["half_width"])
        rows.append(row)
    return pd.DataFrame(rows)


def part_use(measured: pd.DataFrame) -> Figure:
    """Bars of each quantity with the most labels, and below them paired differences."""
    frame = measured[measured["test_set"] == "multi_view"]
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


def by_part(parts: pd.DataFrame) -> Figure:
    """What maps point at against what counts: one panel a start, one dot a part of a class."""
    starts = [start for start in STARTS if start in set(parts["start"])]
    most = parts[parts["labels"] == parts["labels"].max()]
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


#: Quantities of the figure that turns the dials of the pictures, in words.
DIAL_QUANTITIES = {
    "hits": "parts hit\na picture",
    "entropy": "evenness of heat\nover the parts",
    "flipped": "wrong after\nerasing a part",
}


def readings(read: pd.DataFrame) -> Figure:
    """Parts hit, less those of supervised training: a row a network, a column a layer."""
    keys = ["encoder", "layer", "centred", "hit_share"]
    starts = dict(zip(read["start"], read["encoder"], strict=True))
    others = {start: f"random-{kind}" for start, kind in starts.items() if "random" not in start}
    gains = paired(read, keys, "start", others)
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


# --------------------------------------------------------------------------- Table 1


#: Which measurement on part-composed pictures stands in for which of the paper's numbers:
#: words, the frame, and what its rows are called there.
STAND_INS: dict[str, tuple[tuple[str, str, dict[str, str]], ...]] = {
    "ImageNet classification": (
        ("multi-view pictures", "comparison", {"quantity": "multi_view"}),
        ("single-view pictures", "comparison", {"quantity": "single_view"}),
    ),
    "VOC07+12 detection": (("scenes of objects", "detection", {"quantity": "ap75"}),),
    "VOC07 transfer": (
        ("new classes, multi-view", "transfer", {"quantity": "multi_view"}),
        ("new classes, single-view", "transfer", {"quantity": "single_view"}),
    ),
}
#: The paper's two models, as the frames call them.
MODELS = {
    "supervised": {"comparison": "random-cnn", "transfer": "supervised", "detection": "supervised"},
    "mask reconstruction": {"comparison": "simmim", "transfer": "SimMIM", "detection": "SimMIM"},
}


def table_1(quoted: pd.DataFrame, frames: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """The paper's table with what this run measured in place of each number.

    Parameters
    ----------
    quoted
        Columns task, metric, unit, model, paper_value, source.
    frames
        ``comparison`` (fine-tuned with the most labels is used), ``transfer`` (the first set of
        new classes) and ``detection``.

    Returns
    -------
    DataFrame
        One row a number of the paper and measurement that stands in for it: the columns of
        ``quoted``, and measured_on, measured, low, high, half_width (in the paper's unit, %),
        replicates, gain, gain_half_width: over the supervised model, paired; NaN for that itself.
    """
    chosen = _chosen(frames)
    rows = []
    for row in quoted.to_dict("records"):
        for words, name, where in STAND_INS[row["task"]]:
            own = _values(chosen[name], name, row["model"], where)
            seen = estimate(100 * own.to_numpy())
            gain = (np.nan, np.nan)
            if row["model"] != "supervised":
                paired = estimate(
                    100 * (own - _values(chosen[name], name, "supervised", where)).to_numpy()
                )
                gain = (paired.mean, paired.half_width)
            rows.append(
                {
                    **row,
                    "measured_on": words,
                    "measured": seen.mean,
                    "low": seen.low,
                    "high": seen.high,
                    "half_width": seen.half_width,
                    "replicates": seen.replicates,
                    "gain": gain[0],
                    "gain_half_width": gain[1],
                }
            )
    return pd.DataFrame(rows)


def _chosen(frames: Mapping[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    comparison, transfer = frames["comparison"], frames["transfer"]
    most = comparison["labels"] == comparison["labels"].max()
    first = transfer["classes"] == transfer["classes"].iloc[0]
    return {
        "comparison": comparison[most & (comparison["evaluation"] == "fine-tuned")].rename(
            columns={"start": "model"}
        ),
        "transfer": transfer[first].rename(columns={"method": "model"}),
        "detection": frames["detection"].rename(columns={"method": "model"}),
    }


def _values(
    frame: pd.DataFrame, name: str, model: str, where: Mapping[str, str]
) -> pd.Series[float]:
    """One number a replicate."""
    own = frame[frame["model"] == MODELS[model][name]]
    for column, value in where.items():
        own = own[own[column] == value]
    if own.empty or own["replicate"].duplicated().any():
        raise KeyError(f"{name}: {model}, {dict(where)}: expected one row a replicate")
    return own.set_index("replicate")["value"].sort_index()


def _signed(value: float, half_width: float) -> str:
    return ("+" if value > 0 else "") + plus_minus(value, half_width)


def wide_table_1(table: pd.DataFrame) -> pd.DataFrame:
    """The same for reading, in the paper's form: a column a model."""
    rows = []
    for (task, words), own in table.groupby(["task", "measured_on"], sort=False):
        seen = own.set_index("model")
        row = {"task": task, "metric": seen["metric"].iloc[0], "stand-in": words}
        for model in MODELS:
            one = seen.loc[model].to_dict()
            row[f"{model}: paper_value"] = one["paper_value"]
            row[f"{model}: measured"] = plus_minus(one["measured"], one["half_width"])
        paper = seen["paper_value"].to_dict()
        gain = seen.loc["mask reconstruction"].to_dict()
        row["gain: paper_value"] = round(paper["mask reconstruction"] - paper["supervised"], 1)
        row["gain: measured"] = _signed(gain["gain"], gain["gain_half_width"])
        rows.append(row)
    return pd.DataFrame(rows)
