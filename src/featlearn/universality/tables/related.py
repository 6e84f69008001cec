"""Specific, universal, and a tenth of the universal samples: measured, and as printed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from featlearn.core.publish import Config, Table, table
from featlearn.universality.printed import beside, wide


@table("table-f-2", contains="stand-in", which="table-f-2")
@table("table-f-3", contains="stand-in", which="table-f-3")
def specific_and_universal(
    pooled: pd.DataFrame, quoted: Mapping[str, Any], config: Config, which: str
) -> Table:
    """A probe by number of labels, on three pre-trainings

    Here, on vectors: pools of the target's task alone (*specific*), of all tasks (*universal*), and of a
    tenth of these samples; *all tasks*: a task of each rung, all labels. Both tables of the thesis have
    the same stand-in.
    """
    own = pooled[pooled["method"] == config["methods"][0]]
    most = own["place"].max()
    cells = {"specific": ("related 100 %", 1), "universal": ("related 100 %", most),
             "a tenth": ("tenth", most)}  # fmt: skip
    rows = []
    for word, (pool, place) in cells.items():
        part = own[(own["pool"] == pool) & (own["place"] == place)].assign(column=word)
        target = part[part["task"] == 0]
        rows.append(target.assign(row="target, " + target["labels"].astype(str) + " labels"))
        every = part[part["labels"] == part["labels"].max()]
        every = every.groupby(["column", "replicate"], as_index=False)["value"].mean()
        rows.append(every.assign(row="all tasks, all labels"))
    return beside(quoted, which, pd.concat(rows), index=["target"])


@table()
def pooled(pooled: pd.DataFrame) -> Table:
    """Accuracy on the target of every pool, by labels"""
    return wide(pooled[pooled["task"] == 0], ["method", "pool", "place"], "labels", "labels")
