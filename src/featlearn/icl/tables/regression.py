"""Numbers of the regression."""

from __future__ import annotations

import pandas as pd

from featlearn.core.publish import Table, table
from featlearn.core.stats import readable, summary


@table()
def trained_ranks(trained: pd.DataFrame) -> Table:
    """Pretraining loss of trained networks by rank, and its optimum (Theorem 5.4.1)"""
    own = trained[trained["sigma"] == trained["sigma"].min()]
    means = summary(own, ["rank", "optimum"])
    return Table(means, readable(means, "loss after training"))


@table()
def all_blocks(blocks: pd.DataFrame) -> Table:
    """Networks all of whose blocks train: loss over that of the theorem's optimum, minus 1"""
    means = summary(blocks, ["rank"])
    return Table(means, readable(means, "excess on the same prompts"))
