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
    trained = found[found["quantity"].isin(list(HEADS))]
    shown = side_by_side(trained, ["framework", "theta"], "quantity", HEADS)
    means = trained.pivot_table(index=["framework", "theta"], columns="quantity", values="mean")
    reached = {"first_captured": "captured", "all_captured": "complete"}
    for place, key in enumerate(zip(shown["framework"], shown["theta"], strict=True)):
        for time, share in reached.items():
            if HEADS[time] in shown and means.loc[key, share] == 0:
                shown.loc[place, HEADS[time]] = "never"
    return Table(
        found,
        shown.replace({"framework": {"teacher_student": "teacher-student", "mae": "MAE"}}),
        "A replicate that never captures counts with the length of the run. The losses of initial "
        f"kernels at small theta are in the Parquet file. After the sign: {SPREAD_KIND}.",
    )
