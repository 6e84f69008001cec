"""Table and figure of the runs on real images. Reads frames, imports no torch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from featlearn.core.plots import COLOURS, figure
from featlearn.mrp.images.real_config import RANDOM
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
    gains = _gains(evaluations)
    table = table.merge(gains, how="left", on=["data_set", "start", "evaluation", "fraction"])
    ranks = {name: place for place, name in enumerate(EVALUATIONS)}
    order = table.assign(rank=table["evaluation"].map(ranks), few=-table["fraction"])
    places = order.sort_values(["data_set", "rank", "few"], kind="stable").index
    return table.loc[places].reset_index(drop=True)


def _gains(evaluations: pd.DataFrame) -> pd.DataFrame:
    by = ["data_set", "evaluation", "fraction"]
    wide = evaluations.pivot_table(index=[*by, "replicate"], columns="start", values="value")
    frames = []
    for start in wide.columns.drop(RANDOM):
        difference = (wide[start] - wide[RANDOM]).dropna().rename("value").reset_index()
        frames.append(means(difference.assign(start=start), [*by, "start"]))
    gains = pd.concat(frames)[[*by, "start", "mean", "half_width"]]
    return gains.rename(columns={"mean": "gain", "half_width": "gain_half_width"})


def wide_real(table: pd.DataFrame) -> pd.DataFrame:
    """The same for reading: a row a data set, evaluation and start, a column a share of labels."""
    rows = []
    for (name, evaluation, method), own in table.groupby(
        ["data_set", "evaluation", "method"], sort=False
    ):
        row = {"data set": name, "evaluation": evaluation, "encoder": method}
        cells = zip(own["fraction"], own["mean"], own["half_width"], strict=True)
        for fraction, mean, half_width in cells:
            row[f"{100 * fraction:g} % of the labels"] = _cell(mean, half_width)
        rows.append(row)
    return pd.DataFrame(rows).fillna("-")


def _cell(mean: float, half_width: float) -> str:
    return f"{mean:.3f}" if pd.isna(half_width) else f"{mean:.3f} ± {half_width:.3f}"


def real_figure(table: pd.DataFrame) -> Figure:
    """Quality by number of labelled images, one panel a data set."""
    names = list(dict.fromkeys(table["data_set"]))
    drawn = figure(max(3.4 * len(names), 6.6), 3.9)
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
    for (start, evaluation, method), own in table.groupby(
        ["start", "evaluation", "method"], sort=False
    ):
        seen = own.sort_values("labels")
        ax.errorbar(
            seen["labels"],
            seen["mean"],
            yerr=seen["half_width"].fillna(0),
            color=START_COLOURS.get(str(method if start == RANDOM else start), COLOURS["green"]),
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
