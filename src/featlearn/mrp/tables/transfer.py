"""The table of the transfer cases: every recipe, old and new classes apart."""

from __future__ import annotations

import numpy as np
import pandas as pd

from featlearn.core.publish import Table, table
from featlearn.core.stats import plus_minus, summary
from featlearn.mrp.tables.headline import ABSENT

#: Recipes in the order of the story, with the words that a reader sees.
RECIPES = {
    "probe": "Mask rec.",
    "finetuned": "Mask rec. + fine-tuning",
    "continued": "Mask rec. continued on the new task",
    "random": "Random kernels",
    "supervised": "Supervised from scratch, as trained",
    "supervised_head": "Supervised from scratch, new head",
}
HEADS = {
    "train_accuracy": "training accuracy",
    "accuracy_multi_view": "multi-view accuracy",
    "accuracy_single_view": "single-view accuracy",
    "captured": "features captured",
    "blamed_on_new": "single-view samples taken for a new class",
}
KEYS = ["case", "recipe", "classes", "quantity"]
#: What a fine-tuning rate is chosen by: accuracy on all classes, both kinds of data alike.
CRITERIA = ("accuracy_multi_view", "accuracy_single_view")


def chosen_elsewhere(score: np.ndarray) -> np.ndarray:
    """For each replicate, the setting that is best on all the others.

    So a setting is never chosen on the replicate that it is reported on.

    Parameters
    ----------
    score : (settings, R)
        Higher is better; the first of equal ones wins.

    Returns
    -------
    ndarray
        (R,) indices. A single replicate has no others and gets its own best.
    """
    if score.shape[1] == 1:
        return score.argmax(0)
    # sums are rounded: settings that are equal on the others must not be told apart by rounding
    others = (score.sum(1, keepdims=True) - score).round(9)
    return others.argmax(0)


def reported(accuracy: pd.DataFrame) -> pd.DataFrame:
    """Of the fine-tuned networks of a case, for each replicate only that of the chosen rate.

    Parameters
    ----------
    accuracy
        ``transfer/accuracy.parquet``.
    """
    tuned = accuracy["recipe"] == "finetuned"
    criteria = accuracy[
        tuned & (accuracy["classes"] == "all") & accuracy["quantity"].isin(CRITERIA)
    ]
    keep = ~tuned
    for case, own in criteria.groupby("case"):
        score = own.pivot_table(
            index="encoder_rate", columns="replicate", values="value", aggfunc="mean"
        )
        best = score.index.to_numpy()[chosen_elsewhere(score.to_numpy())]
        rate_of = dict(zip(score.columns, best, strict=True))
        chosen = accuracy["replicate"].map(rate_of) == accuracy["encoder_rate"]
        keep |= tuned & (accuracy["case"] == case) & chosen
    return accuracy[keep].reset_index(drop=True)


def transfer_table(accuracy: pd.DataFrame) -> pd.DataFrame:
    """Mean and 95 % interval of every quantity, fine-tuned at the rate chosen elsewhere.

    ``rate`` is the quantity of the chosen encoder rates themselves.

    Returns
    -------
    DataFrame
        Columns case, recipe, classes, quantity, mean, low, high, half_width, replicates.
    """
    shown = reported(accuracy)
    rates = shown[(shown["recipe"] == "finetuned") & (shown["quantity"] == "captured")]
    rates = rates.assign(quantity="encoder_rate", value=rates["encoder_rate"])
    rows = pd.concat([shown, rates]).sort_values(KEYS, kind="stable")
    return summary(rows, KEYS).drop(columns="largest")


def wide(table: pd.DataFrame) -> pd.DataFrame:
    """The same for reading: a row a case, recipe and kind of classes."""
    cells = table.set_index(KEYS)
    rows = []
    for case in table["case"].unique():
        for recipe, label in RECIPES.items():
            for classes in ("old", "new"):
                row = {"case": case, "recipe": label, "classes": classes}
                for quantity, head in HEADS.items():
                    key = (case, recipe, classes, quantity)
                    row[head] = (
                        plus_minus(cells.loc[key, "mean"], cells.loc[key, "half_width"])
                        if key in cells.index
                        else ABSENT
                    )
                if any(row[head] != ABSENT for head in HEADS.values()):
                    rows.append(row)
    return pd.DataFrame(rows)


@table("transfer")
def transfer(accuracy: pd.DataFrame) -> Table:
    """Transfer: old and new classes

    All heads are new and trained to their optimum on standardised features, but for *as trained*. The
    rate of fine-tuning is chosen for each replicate on the others.
    """
    means = transfer_table(accuracy)
    return Table(means, wide(means))
