"""The table of the comparison from equal starts."""

from __future__ import annotations

import pandas as pd

from featlearn.core.publish import Table, table
from featlearn.core.stats import side_by_side, summary

KEYS = ["kernels_per_class", "sigma_0", "model", "quantity"]
SHOWN = (
    "train_accuracy", "accuracy_multi_view", "accuracy_single_view", "largest", "impure_share",
    "captured",
)  # fmt: skip


@table()
def equal_start(evaluation: pd.DataFrame) -> Table:
    """Training from equal starts

    Heads are new and trained to their optimum on standardised features; *supervised* is also shown as it
    was trained, with fixed blocks.
    """
    means = summary(evaluation, KEYS)
    return Table(means, side_by_side(means, KEYS[:3], "quantity", {name: name for name in SHOWN}))
