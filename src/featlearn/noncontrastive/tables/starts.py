"""The table of random starts."""

from __future__ import annotations

import pandas as pd

from featlearn.core.publish import Table, table
from featlearn.core.stats import SPREAD_KIND, side_by_side, summary

OUTCOMES = {
    "diverse": "both features",
    "strong": "strong only",
    "weak": "weak only",
    "undecided": "a mixture",
}


@table("outcomes")
def what_becomes(outcomes: pd.DataFrame) -> Table:
    """What becomes of random starts"""
    parts = []
    for outcome in OUTCOMES:
        hit = outcomes.assign(value=(outcomes["outcome"] == outcome).astype(float))
        # a replicate is a group of starts: its number is their share
        share = hit.groupby(["case", "mode", "replicate"], sort=False)["value"].mean()
        parts.append(share.reset_index().assign(outcome=outcome))
    shares = summary(pd.concat(parts, ignore_index=True), ["case", "mode", "outcome"])
    starts = int(outcomes.groupby(["case", "mode"]).size().max())
    return Table(
        shares, side_by_side(shares, ["case", "mode"], "outcome", OUTCOMES),
        f"Shares of {starts} starts a case, in {int(shares['replicates'].max())} groups; after the "
        f"sign: {SPREAD_KIND}.",
    )  # fmt: skip
