"""The same models on data that a linear classifier solves."""

from __future__ import annotations

import pandas as pd

from featlearn.core.publish import Table, table
from featlearn.mrp.tables.headline import comparison


@table()
def clean(evaluation: pd.DataFrame) -> Table:
    """The same on data with hardly any noise

    The sizes at which the steps of the proofs are checked: fewer patches, and next to no feature noise.
    The lottery of supervised training and the capture of all features by mask reconstruction are here as
    the theory says. **But a linear classifier on the summed patches solves these data**, so they do not
    show what features are good for; the headline does.
    """
    return comparison(evaluation)
