"""The table of the phases."""

from __future__ import annotations

import pandas as pd

from featlearn.core.publish import Table, table
from featlearn.core.stats import summary

LENGTHS = {
    "t1_predicted": "I, predicted", "phase_1": "I, measured", "phase_2": "II", "phase_3": "III",
    "phase_end": "head back", "largest_e21_of_bound": "largest E_21 / bound",
    "end_correlation": "correlation at the end",
}  # fmt: skip


@table()
def phase_times(times: pd.DataFrame) -> Table:
    """Phases over the dimension

    Predicted and measured lengths, the largest head against its bound, and the correlation of the two
    neurons at the end. *What to see:* the prediction of phase I is right to the last digits shown, the
    bound of the head is nearly reached, the correlation falls far faster than the corollary asks.
    """
    means = summary(times[times["quantity"].isin(list(LENGTHS))], ["dimension", "quantity"])
    cells = means.assign(cell=[f"{mean:.3g}" for mean in means["mean"]]).pivot_table(
        index="dimension", columns="quantity", values="cell", aggfunc="first", sort=False
    )
    shown = cells[list(LENGTHS)].rename(columns=LENGTHS).reset_index()
    shown["dimension"] = [f"{d:.0e}" for d in shown["dimension"]]
    replicates = int(means["replicates"].max())
    return Table(
        means, shown, f"Means over {replicates} replicates; times in units of eta x steps."
    )
