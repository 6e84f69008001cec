"""The headline table: every model, on multi-view and on single-view data."""

from __future__ import annotations

import pandas as pd

from featlearn.core.publish import Table, table
from featlearn.core.stats import estimate

#: Models in the order of the story, with the words that a reader sees.
LABELS = {
    "supervised": "Supervised",
    "probe": "Mask reconstruction + linear probe",
    "finetuned": "Mask reconstruction + fine-tuning",
    "random_probe": "Random kernels + linear probe",
    "random_finetuned": "Random kernels + fine-tuning",
    "pretrained": "Mask reconstruction, before a head",
}

#: Quantities of the wide table, with their column heads.
HEADS = {
    "accuracy_multi_view": "multi-view accuracy",
    "accuracy_single_view": "single-view accuracy",
    "captured": "features captured",
    "impure_winners": "impure winners",
}

#: No such number: the accuracy of an encoder without a head.
ABSENT = "-"


def headline_table(evaluation: pd.DataFrame) -> pd.DataFrame:
    """Mean and 95 % interval of every quantity.

    Returns
    -------
    DataFrame
        Columns model, label, quantity, mean, low, high, half_width, replicates.
    """
    rows = []
    for model, label in LABELS.items():
        own = evaluation[evaluation["model"] == model]
        for quantity, values in own.groupby("quantity", sort=True)["value"]:
            seen = estimate(values.to_numpy())
            rows.append((model, label, quantity, seen.mean, seen.low, seen.high,
                         seen.half_width, seen.replicates))  # fmt: skip
    columns = ["model", "label", "quantity", "mean", "low", "high", "half_width", "replicates"]
    return pd.DataFrame(rows, columns=columns)


def wide(summary: pd.DataFrame) -> pd.DataFrame:
    """The same for reading: a row a model, ``mean +- half-width`` in the cells."""
    rows = []
    for model, label in LABELS.items():
        row = {"model": label}
        for quantity, head in HEADS.items():
            found = summary[(summary["model"] == model) & (summary["quantity"] == quantity)]
            row[head] = (
                f"{found['mean'].iloc[0]:.3f} ± {found['half_width'].iloc[0]:.3f}"
                if len(found)
                else ABSENT
            )
        rows.append(row)
    return pd.DataFrame(rows)


@table()
def headline(evaluation: pd.DataFrame) -> Table:
    """Supervised training against mask-reconstruction pre-training"""
    summary = headline_table(evaluation)
    return Table(summary, wide(summary))
