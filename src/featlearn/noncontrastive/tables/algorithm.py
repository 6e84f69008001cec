"""The table of Algorithm 1 and its ablations."""

from __future__ import annotations

import pandas as pd

from featlearn.core.publish import Table, table
from featlearn.core.stats import SPREAD_KIND, side_by_side, summary

ENDS = {
    "b11": "neuron 1, v_1", "b12": "neuron 1, v_2", "b21": "neuron 2, v_1", "b22": "neuron 2, v_2",
    "e21": "head E_21", "correlation": "correlation", "loss": "loss",
}  # fmt: skip


@table()
def ablations(history: pd.DataFrame) -> Table:
    """Algorithm 1 and its ablations"""
    last = history[history["step"] == history["step"].max()]
    ends = summary(last, ["variant", "quantity"])
    return Table(
        ends, side_by_side(ends, ["variant"], "quantity", ENDS),
        f"State after the last step; {int(ends['replicates'].max())} replicates; after the sign: "
        f"{SPREAD_KIND}. Losses of different normalisations do not compare.",
    )  # fmt: skip
