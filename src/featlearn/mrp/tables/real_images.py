"""What pre-training brings on real images."""

from __future__ import annotations

import pandas as pd

from featlearn.core.publish import Table, table
from featlearn.core.stats import SPREAD_KIND, paired, side_by_side
from featlearn.mrp.images.real_config import RANDOM
from featlearn.mrp.tables.images_comparison import EVALUATIONS, means

METHODS = {"simmim": "SimMIM", "mae": "MAE", "data2vec": "data2vec", "given": "given weights"}
KEYS = ["data_set", "start", "method", "evaluation", "fraction", "labels", "quantity"]
DETECTION_HEADS = {"ap50": "AP50", "ap75": "AP75", "ap": "AP"}


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


@table()
def real_images(evaluations: pd.DataFrame) -> Table:
    """Quality on test images, by start and share of the labels"""
    found = real_table(evaluations)
    names = {"data_set": "data set", "evaluation": "evaluation", "method": "encoder"}
    heads = {share: f"{100 * share:g} % of the labels" for share in found["fraction"].unique()}
    return Table(
        found,
        side_by_side(found.rename(columns=names), list(names.values()), "fraction", heads),
        f"{' and '.join(dict.fromkeys(found['quantity']))}; after the sign: {SPREAD_KIND}.",
    )


@table()
def real_detection(detections: pd.DataFrame) -> Table:
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
