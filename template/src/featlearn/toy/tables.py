"""What is printed: the numbers behind the figures."""

from __future__ import annotations

import pandas as pd

from featlearn.core.publish import Table, table
from featlearn.core.stats import readable, summary


@table()
def alignment(alignment: pd.DataFrame) -> Table:
    """Cosine between feature and sum of views"""
    means = summary(alignment, ["views", "predicted"])
    return Table(means, readable(means, "cosine"))
