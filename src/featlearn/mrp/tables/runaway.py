"""Teacher-student training beyond capture, summarised."""

from __future__ import annotations

import pandas as pd

from featlearn.core.publish import Table, table
from featlearn.core.stats import readable, summary


@table()
def beyond_capture(evaluation: pd.DataFrame) -> Table:
    """Teacher-student training beyond capture

    Means over replicates for each schedule of the teacher factor (`one`: the teacher is a copy of the
    student). Off-diagonal correlations are in units of sigma_0. `finite` is the share of replicates whose
    kernels stayed below 1000; the rates of growth are for the kernel that ends largest.
    """
    found = summary(evaluation.rename(columns={"model": "schedule"}), ["schedule", "quantity"])
    return Table(found, readable(found, "value"))
