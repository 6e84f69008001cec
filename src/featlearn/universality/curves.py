"""Target and average accuracy of a ladder, from the accuracies of all tasks. No torch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd


def curves(accuracies: pd.DataFrame, config: Mapping[str, Any], percent: float) -> pd.DataFrame:
    """Columns arm, mixture, replicate, curve (target, average), value, at a share of the labels.

    All tasks have as many classes, so that the thesis' average, weighted by them, is the plain one.
    """
    labels = round(config["samples"]["train"] * percent / 100)
    own = accuracies[accuracies["labels"] == labels]
    by = ["arm", "mixture", "replicate"]
    average = own.groupby(by, sort=False, as_index=False)["value"].mean().assign(curve="average")
    target = own.loc[own["task"] == 0, [*by, "value"]].assign(curve="target")
    return pd.concat([average, target], ignore_index=True)
