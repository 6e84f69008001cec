"""The table of the keep probability."""

from __future__ import annotations

import pandas as pd

from featlearn.core.publish import Table, table
from featlearn.core.stats import SPREAD_KIND, side_by_side, summary
from featlearn.mrp.claims.keep_probability import alone

#: Quantities that readers see, with their heads.
HEADS = {
    "captured": "features captured",
    "first_captured": "first capture (step)",
    "all_captured": "all captured (step)",
    "complete": "replicates that captured all",
    "growth_factor": "growth of the largest Lambda",
    "rest_error": "distance from the fixed point",
    "initial_loss": "loss of the initial kernels",
}


def trade_off_table(trade_off: pd.DataFrame, fixed_points: pd.DataFrame) -> pd.DataFrame:
    """Columns framework, theta, quantity, mean, ..., replicates.

    ``rest_error``: relative distance of Lambda from its fixed point, features of one kernel.
    """
    own = alone(fixed_points)
    error = own.assign(
        framework="mae", quantity="rest_error", value=(own["strength"] / own["formula"] - 1).abs()
    )
    keys = ["framework", "theta", "quantity", "replicate"]
    error = error.groupby(keys)["value"].mean().reset_index()
    rows = pd.concat([trade_off, error], ignore_index=True)
    return summary(rows, ["framework", "theta", "quantity"])


@table()
def theta_trade_off(trade_off: pd.DataFrame, fixed_points: pd.DataFrame) -> Table:
    """The keep probability"""
    found = trade_off_table(trade_off, fixed_points)
    return Table(
        found,
        side_by_side(found, ["framework", "theta"], "quantity", HEADS),
        f"A time that never came counts as the length of the run. After the sign: {SPREAD_KIND}.",
    )
