"""The opponents of mask reconstruction at every noise and number of patches."""

from __future__ import annotations

import pandas as pd

from featlearn.core.publish import Table, table
from featlearn.core.stats import side_by_side, summary
from featlearn.mrp.tables.headline import HEADS, LABELS

KEYS = ["patches", "feature_noise", "model"]


@table()
def opponents(cells: pd.DataFrame) -> Table:
    """Where each opponent of mask reconstruction stops

    Feature noise up to gamma of every feature in each of P patches. New heads are trained to their
    optimum.
    """
    means = summary(cells, [*KEYS, "quantity"]).drop(columns="largest")
    wide = side_by_side(means.assign(model=means["model"].map(LABELS)), KEYS, "quantity", HEADS)
    return Table(means, wide)
