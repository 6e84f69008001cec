"""Accuracy on pictures, by training and number of labels."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from featlearn.core.publish import Table, table
from featlearn.core.stats import side_by_side, summary

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


@table()
def images_comparison(comparison: pd.DataFrame) -> Table:
    """Accuracy on fresh pictures, by training and number of labels"""
    found = comparison_table(comparison)
    rows = ["method", "evaluation", "labels"]
    return Table(found, side_by_side(found, rows, "quantity", HEADS))
