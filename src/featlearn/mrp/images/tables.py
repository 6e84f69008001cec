"""Tables of the experiments on images: means over replicates with 95 % intervals."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from featlearn.core.prose import plus_minus
from featlearn.core.summary import summary

#: What an encoder was trained on before the labels, in the order in which it is told.
STARTS = {
    "random-cnn": "supervised (CNN)",
    "simmim": "SimMIM (CNN)",
    "random-vit": "supervised (ViT)",
    "mae": "MAE (ViT)",
    "data2vec": "data2vec (ViT)",
    "beit": "BEiT-style (ViT)",
}
EVALUATIONS = ("fine-tuned", "linear probe", "nearest neighbours")
#: Quantities of the wide tables, with their column heads.
HEADS = {
    "multi_view": "multi-view",
    "single_view": "single-view",
    "single_view_1": "part 1 alone",
    "single_view_2": "part 2 alone",
    "worst_view": "worse part",
}


def start_name(start: str, evaluation: str) -> str:
    """How a row is called: a frozen random encoder was not supervised by anything."""
    name = STARTS.get(start, start)
    if start.startswith("random-") and evaluation != "fine-tuned":
        return name.replace("supervised", "random")
    return name


def means(frame: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Mean and 95 % interval over replicates of ``value``.

    Returns
    -------
    DataFrame
        The columns of ``by``, then mean, low, high, half_width, replicates; groups as they come.
    """
    return summary(frame, by).drop(columns="largest")


def comparison_table(comparison: pd.DataFrame) -> pd.DataFrame:
    """Every start, evaluation and number of labels; columns as :func:`means` has them."""
    table = means(comparison, ["start", "encoder", "evaluation", "labels", "quantity"])
    names = [
        start_name(start, evaluation)
        for start, evaluation in zip(table["start"], table["evaluation"], strict=True)
    ]
    table.insert(1, "method", names)
    order = {start: place for place, start in enumerate(STARTS)}
    ranks = {name: place for place, name in enumerate(EVALUATIONS)}
    keys = pd.DataFrame(
        {"evaluation": table["evaluation"].map(ranks), "start": table["start"].map(order)}
    )
    places = keys.sort_values(["evaluation", "start"], kind="stable").index
    return table.loc[places].reset_index(drop=True)


def wide_comparison(table: pd.DataFrame) -> pd.DataFrame:
    """The same for reading: a row a method, evaluation and number of labels."""
    rows = []
    for (method, evaluation, labels), own in table.groupby(
        ["method", "evaluation", "labels"], sort=False
    ):
        row = {"method": method, "evaluation": evaluation, "labels": labels}
        rows.append(row | _cells(own, HEADS))
    return pd.DataFrame(rows)


def transfer_table(transfer: pd.DataFrame, detection: pd.DataFrame) -> pd.DataFrame:
    """New classes and detection; columns task, method, quantity and those of :func:`means`."""
    parts = [
        transfer.assign(task=transfer["classes"].map(task_name)),
        detection.assign(task="detection"),
    ]
    return means(pd.concat(parts, ignore_index=True), ["task", "method", "quantity"])


#: Sets of new classes, by the dial that makes them.
TASKS = {
    "mixed": "new classes, old parts",
    "half_new": "new classes, one old part",
    "new": "new classes, new parts",
}


def task_name(classes: str) -> str:
    return TASKS.get(classes, classes)


def wide_transfer(table: pd.DataFrame) -> pd.DataFrame:
    """The same for reading: a row a task and method."""
    heads = {"multi_view": "multi-view", "single_view": "single-view", "ap50": "AP50",
             "ap75": "AP75"}  # fmt: skip
    rows = []
    for (task, method), own in table.groupby(["task", "method"], sort=False):
        rows.append({"task": task, "encoder was trained": method} | _cells(own, heads))
    return pd.DataFrame(rows)


def _cells(own: pd.DataFrame, heads: dict[str, str]) -> dict[str, str]:
    numbers = zip(own["quantity"], own["mean"], own["half_width"], strict=True)
    found = {quantity: plus_minus(mean, half_width) for quantity, mean, half_width in numbers}
    return {head: found.get(name, "-") for name, head in heads.items()}
