"""What pre-training brings on images of a user's own."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd

from featlearn.core.publish import Table, table
from featlearn.core.stats import SPREAD_KIND, paired, side_by_side
from featlearn.mrp.images.real_config import RANDOM
from featlearn.mrp.tables.images_comparison import EVALUATIONS, means
from featlearn.own.intervals import difference, right_or_not, wilson

METHODS = {"simmim": "SimMIM", "mae": "MAE", "data2vec": "data2vec", "given": "given weights"}
ACCURACY = "accuracy"
#: Letters of a name in a table; the Parquet file beside it has them all.
LETTERS = 40
KEYS = [
    "data_set",
    "start",
    "method",
    "evaluation",
    "fraction",
    "labels",
    "quantity",
    "test_images",
]
DETECTION_HEADS = {"ap50": "AP50", "ap75": "AP75", "ap": "AP"}


def method_name(start: str, method: str, evaluation: str) -> str:
    """How a row is called: what was trained on a random start with labels is from scratch."""
    if start == RANDOM:
        return "from scratch" if evaluation == "fine-tuned" else "random"
    return METHODS.get(method, method)


def accuracy_table(evaluations: pd.DataFrame, predictions: pd.DataFrame) -> pd.DataFrame:
    """Every data set, start, evaluation and share of the labels.

    Parameters
    ----------
    evaluations, predictions
        As :class:`~featlearn.mrp.images.real.Evaluated` has them, with columns data_set, start,
        method, replicate.

    Returns
    -------
    DataFrame
        Columns of ``KEYS``; mean over replicates, low, high, replicates; gain, gain_low,
        gain_high: the difference from the random start with the same evaluation and labels,
        replicate by replicate and image by image (absent for the random start itself). Of an
        accuracy low and high are Wilson's over test images, those of the gain a bootstrap over
        images and replicates; of other quantities both are t-intervals over replicates.
    """
    found = means(evaluations, KEYS).drop(columns="half_width")
    gains = _gains_over_replicates(evaluations)
    rows = []
    for row in found.to_dict("records"):
        key = (row["data_set"], row["evaluation"], row["fraction"])
        if row["quantity"] != ACCURACY:
            row.update(gains.get((*key, row["start"]), {}))
            rows.append(row)
            continue
        row["low"], row["high"] = wilson(row["mean"], row["test_images"])
        if row["start"] != RANDOM:
            own = _of(predictions, *key)
            seen = difference(
                *(right_or_not(own[own["start"] == start]) for start in (row["start"], RANDOM))
            )
            row |= dict(zip(("gain", "gain_low", "gain_high"), seen, strict=True))
        rows.append(row)
    columns = [*found.columns, "gain", "gain_low", "gain_high"]
    table = pd.DataFrame(rows).reindex(columns=columns)
    table["method"] = [
        method_name(*words)
        for words in zip(table["start"], table["method"], table["evaluation"], strict=True)
    ]
    ranks = {name: place for place, name in enumerate(EVALUATIONS)}
    order = table.assign(rank=table["evaluation"].map(ranks), few=-table["fraction"])
    places = order.sort_values(["data_set", "rank", "few"], kind="stable").index
    return table.loc[places].reset_index(drop=True)


def _of(frame: pd.DataFrame, data_set: str, evaluation: str, fraction: float) -> pd.DataFrame:
    return frame[
        (frame["data_set"] == data_set)
        & (frame["evaluation"] == evaluation)
        & (frame["fraction"] == fraction)
    ]


def _gains_over_replicates(frame: pd.DataFrame) -> dict[tuple[Any, ...], dict[str, float]]:
    """Paired differences of every start from the random one, for what is no accuracy."""
    frame = frame[frame["quantity"] != ACCURACY]
    others = {start: RANDOM for start in frame["start"].unique() if start != RANDOM}
    seen = paired(frame, ["data_set", "evaluation", "fraction"], "start", others)
    seen["low"] = seen["difference"] - seen["difference_half_width"]
    seen["high"] = seen["difference"] + seen["difference_half_width"]
    return {
        (row["data_set"], row["evaluation"], row["fraction"], row["start"]): {
            "gain": row["difference"],
            "gain_low": row["low"],
            "gain_high": row["high"],
        }
        for row in seen.to_dict("records")
    }


def cut(name: str) -> str:
    """A name that leaves room beside it."""
    return name if len(name) <= LETTERS else f"{name[: LETTERS - 1]}…"


def plain(name: str) -> str:
    """A name of a folder in a cell of a Markdown table."""
    shown = cut("".join(letter if letter.isprintable() else "?" for letter in name))
    return shown.replace("\\", "\\\\").replace("|", "\\|")


def interval(mean: float, low: float, high: float) -> str:
    """``0.64 (0.35 to 0.85)``; without brackets where there is no interval."""
    if math.isnan(low):
        return f"{mean:.3f}"
    return f"{mean:.2f} ({low:.2f} to {high:.2f})".replace("-", "−")


def _intervals(frame: pd.DataFrame, *columns: str) -> list[str]:
    return [interval(*row) for row in frame[list(columns)].to_numpy(dtype=float).tolist()]


@table()
def accuracy(evaluations: pd.DataFrame, predictions: pd.DataFrame) -> Table:
    """Accuracy on test images, by start and share of the labels"""
    found = accuracy_table(evaluations, predictions)
    shares = found["fraction"].unique()
    heads = {share: f"{100 * share:g} % of the labels" for share in shares}
    names = {
        "data_set": "data set",
        "test_images": "test images",
        "evaluation": "evaluation",
        "method": "encoder",
    }
    shown = found.assign(cell=_intervals(found, "mean", "low", "high")).rename(columns=names)
    shown = shown[[*names.values(), "start", "fraction", "cell"]]
    rows = shown[[*names.values(), "start"]].drop_duplicates()
    for share, head in heads.items():
        own = shown[shown["fraction"] == share].rename(columns={"cell": head})
        rows = rows.merge(own.drop(columns="fraction"), how="left")
    return Table(found, rows.drop(columns="start").fillna("-"), _notes(found))


def _notes(found: pd.DataFrame) -> str:
    words = " and ".join(dict.fromkeys(found["quantity"]))
    told = f"{words[0].upper()}{words[1:]}, mean of {int(found['replicates'].max())} replicates. "
    if set(found["quantity"]) == {ACCURACY}:
        return told + (
            "In brackets: 95 % interval for other images of the same kind, from the number of test "
            "images (Wilson)."
        )
    return told + "In brackets: 95 % interval over replicates, on the same test images."


@table()
def gains(evaluations: pd.DataFrame, predictions: pd.DataFrame) -> Table:
    """What pre-training added

    Difference from the same network without pre-training, with the same labels and steps.
    """
    found = accuracy_table(evaluations, predictions)
    found = found[found["start"] != RANDOM]
    shown = pd.DataFrame(
        {
            "data set": found["data_set"],
            "evaluation": found["evaluation"],
            "encoder": found["method"],
            "labels": found["labels"],
            "difference": _intervals(found, "gain", "gain_low", "gain_high"),
        }
    )
    return Table(
        found.reset_index(drop=True),
        shown,
        "In brackets: 95 % interval. Of accuracies a bootstrap over test images and replicates; an "
        "interval that holds 0 shows no difference.",
    )


def class_table(predictions: pd.DataFrame) -> pd.DataFrame:
    """Of the classifier with most labels: accuracy on the test images of each class, by start.

    Returns
    -------
    DataFrame
        Columns data_set, start, method, class, test_images, mean, low, high, replicates.
    """
    most = predictions.groupby("data_set")["fraction"].transform("max")
    tuned = predictions[
        (predictions["evaluation"] == "fine-tuned") & (predictions["fraction"] == most)
    ]
    rows = []
    by = ["data_set", "start", "method", "label"]
    for (data_set, start, method, label), own in tuned.groupby(by, sort=False):
        right = right_or_not(own)
        images, mean = right.shape[1], float(right.mean())
        name = method_name(str(start), str(method), "fine-tuned")
        rows.append((data_set, start, name, label, images, mean, *wilson(mean, images), len(right)))
    columns = [
        "data_set", "start", "method", "class", "test_images", "mean", "low", "high", "replicates"
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=columns)


@table()
def classes(predictions: pd.DataFrame) -> Table:
    """Accuracy per class, fine-tuned with most labels"""
    found = class_table(predictions)
    shown = found.assign(cell=_intervals(found, "mean", "low", "high"))
    keys = {"data_set": "data set", "class": "class", "test_images": "test images"}
    rows = shown[list(keys)].drop_duplicates()
    for name in dict.fromkeys(shown["method"]):
        own = shown[shown["method"] == name][["data_set", "class", "cell"]]
        own = own.drop_duplicates(["data_set", "class"]).rename(columns={"cell": name})
        rows = rows.merge(own, how="left", on=["data_set", "class"])
    return Table(
        found,
        rows.assign(**{"class": rows["class"].map(plain)}).fillna("-").rename(columns=keys),
        f"Mean of {int(found['replicates'].max())} replicates; in brackets Wilson's 95 % interval "
        "over the test images of the class.",
    )


@table()
def pictures(summaries: pd.DataFrame) -> Table:
    """Pictures of each class, for training and for the test"""
    found = summaries[["data_set", "class", "role", "images", "repeated", "contradicted"]]
    wide = found.pivot_table(
        index=["data_set", "class"], columns="role", values="images", sort=False, fill_value=0
    ).reset_index()
    heads = {"data_set": "data set", "train": "training", "test": "test"}
    wide = wide.rename(columns=heads).rename_axis(columns=None)
    whole = {"data set": "all", "class": "", **wide[["training", "test"]].sum().to_dict()}
    shown = pd.concat([wide, pd.DataFrame([whole])], ignore_index=True)
    shown = shown.assign(**{"class": shown["class"].map(plain)})
    return Table(found.reset_index(drop=True), shown.astype({"training": int, "test": int}), "")


def detection_table(detections: pd.DataFrame) -> pd.DataFrame:
    """Every data set, start and average precision, with mean and t-interval over replicates.

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
    others = {start: RANDOM for start in detections["start"].unique() if start != RANDOM}
    names = {"difference": "gain", "difference_half_width": "gain_half_width"}
    gained = paired(detections, ["data_set", "quantity"], "start", others).rename(columns=names)
    return table.merge(gained, how="left", on=["data_set", "quantity", "start"])


@table()
def detection(detections: pd.DataFrame) -> Table:
    """Average precision of a detector, by start of its encoder

    Average precision of Faster R-CNN on the test images of the set, by what the encoder below it was
    trained on before; training images, their order, the detector and its other initial weights are the
    same for all rows of a replicate. AP50 and AP75 count a box as right from an overlap of 0.5 and 0.75 on,
    AP is the mean over ten such thresholds. *What to see:* the difference from the random start, and
    whether given weights of supervised training or of mask reconstruction are above one another.
    """
    found = detection_table(detections)
    names = {"data_set": "data set", "method": "encoder"}
    return Table(
        found,
        side_by_side(
            found.rename(columns=names), list(names.values()), "quantity", DETECTION_HEADS
        ),
        f"As COCO counts it, mean over classes; after the sign: {SPREAD_KIND}.",
    )
