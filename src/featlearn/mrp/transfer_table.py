"""The table of the transfer cases: every recipe, old and new classes apart."""

from __future__ import annotations

import pandas as pd

from featlearn.core.stats import estimate
from featlearn.mrp.selection import reported
from featlearn.mrp.tables.headline import ABSENT

#: Recipes in the order of the story, with the words that a reader sees.
RECIPES = {
    "probe": "Mask rec. + linear probe",
    "finetuned": "Mask rec. + fine-tuning",
    "continued": "Mask rec. continued on the new task + fine-tuning",
    "supervised": "Supervised, from scratch",
}
HEADS = {
    "accuracy_multi_view": "multi-view accuracy",
    "accuracy_single_view": "single-view accuracy",
    "captured": "features captured",
    "blamed_on_new": "single-view samples taken for a new class",
}
KEYS = ["case", "recipe", "classes", "quantity"]


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
    rows = []
    for key, values in pd.concat([shown, rates]).groupby(KEYS, sort=True)["value"]:
        seen = estimate(values.to_numpy())
        rows.append((*key, seen.mean, seen.low, seen.high, seen.half_width, seen.replicates))
    columns = [*KEYS, "mean", "low", "high", "half_width", "replicates"]
    return pd.DataFrame(rows, columns=columns)


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
                        f"{cells.loc[key, 'mean']:.3f} ± {cells.loc[key, 'half_width']:.3f}"
                        if key in cells.index
                        else ABSENT
                    )
                if any(row[head] != ABSENT for head in HEADS.values()):
                    rows.append(row)
    return pd.DataFrame(rows)
