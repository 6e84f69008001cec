"""Table and figure of the runs on real images. Reads frames, imports no torch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from featlearn.core.plots import COLOURS, canvas
from featlearn.core.prose import plus_minus
from featlearn.core.summary import paired, side_by_side
from featlearn.mrp.images.real_config import GIVEN, RANDOM
from featlearn.mrp.images.tables import EVALUATIONS, means

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

METHODS = {"simmim": "SimMIM", "mae": "MAE", "data2vec": "data2vec", "given": "given weights"}
KEYS = ["data_set", "start", "method", "evaluation", "fraction", "labels", "quantity"]
LOOKS = {"fine-tuned": "-", "linear probe": ":", "nearest neighbours": "--"}
START_COLOURS = {
    "from scratch": COLOURS["orange"],
    "random": COLOURS["grey"],
    "pretrained": COLOURS["blue"],
}
DETECTION_HEADS = {"ap50": "AP50", "ap75": "AP75", "ap": "AP"}
#: Of weights that the config names.
GIVEN_COLOURS = [COLOURS["green"], COLOURS["purple"], COLOURS["red"], COLOURS["sky"]]


def method_name(start: str, method: str, evaluation: str) -> str:
    """How a row is called: what was trained on a random start with labels is from scratch."""
    if start == RANDOM:
        return "from scratch" if evaluation == "fine-tuned" else "random"
    return METHODS.get(method, method)


def real_table(evaluations: pd.DataFrame) -> pd.DataFrame:
    """Every data set, start, evaluation and share of the labels.

    Parameters
    ----------
    evaluations
        Columns data_set, start, method, evaluation, fraction, labels, quantity, value, replicate.

    Returns
    -------
    DataFrame
        All but the last two, then mean, low, high, half_width, replicates; and gain,
        gain_half_width: mean and 95 % interval of the difference from the random start with the
        same evaluation and labels, replicate by replicate (absent for the random start itself).
    """
    table = means(evaluations, KEYS)
    table["method"] = [
        method_name(*words)
        for words in zip(table["start"], table["method"], table["evaluation"], strict=True)
    ]
    by = ["data_set", "evaluation", "fraction"]
    table = table.merge(_gains(evaluations, by), how="left", on=[*by, "start"])
    ranks = {name: place for place, name in enumerate(EVALUATIONS)}
    order = table.assign(rank=table["evaluation"].map(ranks), few=-table["fraction"])
    places = order.sort_values(["data_set", "rank", "few"], kind="stable").index
    return table.loc[places].reset_index(drop=True)


def _gains(frame: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Paired differences of every start from the random one."""
    others = {start: RANDOM for start in frame["start"].unique() if start != RANDOM}
    names = {"difference": "gain", "difference_half_width": "gain_half_width"}
    return paired(frame, by, "start", others).rename(columns=names)


def wide_real(table: pd.DataFrame) -> pd.DataFrame:
    """The same for reading: a row a data set, evaluation and start, a column a share of labels."""
    rows = []
    for (name, evaluation, method), own in table.groupby(
        ["data_set", "evaluation", "method"], sort=False
    ):
        row = {"data set": name, "evaluation": evaluation, "encoder": method}
        cells = zip(own["fraction"], own["mean"], own["half_width"], strict=True)
        for fraction, mean, half_width in cells:
            row[f"{100 * fraction:g} % of the labels"] = plus_minus(mean, half_width)
        rows.append(row)
    return pd.DataFrame(rows).fillna("-")


def detection_table(detections: pd.DataFrame) -> pd.DataFrame:
    """Every data set, start and average precision; columns as :func:`real_table` has them.

    Parameters
    ----------
    detections
        Columns data_set, start, method, quantity, value, replicate.
    """
    table = means(detections, ["data_set", "start", "method", "quantity"])
    table["method"] = [
        method_name(start, method, "fine-tuned")
        for start, method in zip(table["start"], table["method"], strict=True)
    ]
    gains = _gains(detections, ["data_set", "quantity"])
    return table.merge(gains, how="left", on=["data_set", "quantity", "start"])


def wide_detection(table: pd.DataFrame) -> pd.DataFrame:
    """The same for reading: a row a data set and start."""
    names = {"data_set": "data set", "method": "encoder"}
    return side_by_side(table.rename(columns=names), list(names.values()), "quantity",
                        DETECTION_HEADS)  # fmt: skip


def real_figure(table: pd.DataFrame) -> Figure:
    """Quality by number of labelled images, one panel a data set."""
    names = list(dict.fromkeys(table["data_set"]))
    drawn = canvas(max(3.4 * len(names), 6.6), 3.9)
    axes = drawn.subplots(1, len(names), squeeze=False, sharey=True)[0]
    for ax, name in zip(axes, names, strict=True):
        _panel(ax, table[table["data_set"] == name])
        ax.set_title(name)
        ax.set_xlabel("labelled training images")
    axes[0].set_ylabel(" or ".join(dict.fromkeys(table["quantity"])) + " on test images")
    entries: dict[str, Artist] = {}
    for ax in axes:
        handles, labels = ax.get_legend_handles_labels()
        entries |= dict(zip(labels, handles, strict=True))
    drawn.legend(list(entries.values()), list(entries), loc="outside lower center", ncols=3)
    return drawn


def _panel(ax: Axes, table: pd.DataFrame) -> None:
    given = [start for start in table["start"].unique() if start.startswith(GIVEN)]
    colours = START_COLOURS | dict(zip(given, GIVEN_COLOURS * len(given), strict=False))
    for (start, evaluation, method), own in table.groupby(
        ["start", "evaluation", "method"], sort=False
    ):
        seen = own.sort_values("labels")
        ax.errorbar(
            seen["labels"],
            seen["mean"],
            yerr=seen["half_width"].fillna(0),
            color=colours[str(method if start == RANDOM else start)],
            linestyle=LOOKS[str(evaluation)],
            marker="o",
            markersize=3,
            capsize=2,
            label=f"{method}, {evaluation}" if method != "from scratch" else method,
        )
    counts = sorted(table["labels"].unique())
    ax.set_xscale("log")
    ax.set_xticks(counts, [str(count) for count in counts])
    ax.set_xticks([], minor=True)
    ax.set_ylim(0, 1.03)
