"""The table of initial correlations and lottery sets."""

from __future__ import annotations

import pandas as pd

from featlearn.core.publish import Table, table
from featlearn.core.stats import SPREAD_KIND, side_by_side, summary

#: Columns that name a row, with their heads for readers.
SIZE = {"classes": "k", "kernels_per_class": "m", "constant": "C_M"}
#: Quantities that readers see, with their heads.
HEADS = {
    "ratio_mean": "Lambda / (sigma_0 sqrt(2 ln km))",
    "set_size": "kernels of a set",
    "largest_set": "of the largest set",
    "shared_kernels": "kernels in more than one set",
    "expected_shared_kernels": "expected",
    "disjoint_sets": "share of disjoint sets",
}


def lottery_table(lottery: pd.DataFrame) -> pd.DataFrame:
    """Columns classes, kernels_per_class, constant, quantity, mean, ..., replicates.

    ``constant`` is C_M as text; ``any`` for what does not depend on it. ``smallest`` marks the
    number of kernels that the paper admits, ``m = ceil(sqrt k)``.
    """
    constant = lottery["constant"].map("{:g}".format).replace("nan", "any")
    rows = lottery.assign(constant=constant)
    table = summary(rows, ["classes", "kernels_per_class", "constant", "quantity"])
    least = table.groupby("classes")["kernels_per_class"].transform("min")
    table.insert(2, "smallest", table["kernels_per_class"] == least)
    return table


def for_readers(table: pd.DataFrame) -> pd.DataFrame:
    """The same with the initial correlations beside the sets of every constant."""
    common = table["constant"] == "any"
    constants = [constant for constant in table["constant"].unique() if constant != "any"]
    copies = [table[common].assign(constant=constant) for constant in constants]
    rows = pd.concat([*copies, table[~common]], ignore_index=True)
    return rows.sort_values(["classes", "kernels_per_class", "constant"], kind="stable").rename(
        columns=SIZE
    )


@table()
def lottery_sets(lottery: pd.DataFrame) -> Table:
    """Initial correlations and lottery sets"""
    found = lottery_table(lottery)
    return Table(
        found,
        side_by_side(for_readers(found), list(SIZE.values()), "quantity", HEADS),
        f"Two features a class. After the sign: {SPREAD_KIND}.",
    )
