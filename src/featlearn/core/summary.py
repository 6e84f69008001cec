"""Tables of means with intervals, from tidy measurements."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from featlearn.core.prose import plus_minus
from featlearn.core.stats import estimate


def summary(frame: pd.DataFrame, by: Sequence[str], value: str = "value") -> pd.DataFrame:
    """Mean and 95 % interval of ``value`` over the rows of each group.

    Returns
    -------
    DataFrame
        Columns ``by``, mean, low, high, half_width, largest, replicates; groups in the order of
        their first row.
    """
    rows = []
    for key, values in frame.groupby(list(by), sort=False, observed=True)[value]:
        seen = estimate(values.to_numpy())
        rows.append((*key, seen.mean, seen.low, seen.high, seen.half_width,
                     float(values.max()), seen.replicates))  # fmt: skip
    columns = [*by, "mean", "low", "high", "half_width", "largest", "replicates"]
    return pd.DataFrame(rows, columns=columns)


def readable(table: pd.DataFrame, head: str) -> pd.DataFrame:
    """The same for reading: ``mean ± half-width`` in one column called ``head``."""
    spans = ["mean", "low", "high", "half_width", "largest", "replicates"]
    cells = [plus_minus(m, h) for m, h in zip(table["mean"], table["half_width"], strict=True)]
    return table.drop(columns=spans).assign(**{head: cells})
