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

#: Ways of training, and settings, in words.
MODES = {
    "head": "trained head",
    "frozen": "no head",
    "live-target": "head, no StopGrad",
}
NAMES = {
    "base": "base",
    "small-dimension": "d = 30",
    "large-dimension": "d = 10,000",
    "stronger": "strengths 3 : 1",
    "slow-head": "slow head, κ = 0.01",
    "fast-head": "fast head, κ = 1",
    "frequency": "equal strengths,\n9 of 10 show the first",
    "together": "both in each sample",
    "wide": "more neurons",
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
    named = shares.assign(
        setting=[NAMES.get(name, name).replace("\n", " ") for name in shares["case"]],
        training=shares["mode"].map(MODES),
    )
    return Table(
        shares, side_by_side(named, ["setting", "training"], "outcome", OUTCOMES),
        f"Shares of {starts} starts a case, in {int(shares['replicates'].max())} groups; after the "
        f"sign: {SPREAD_KIND}.",
    )  # fmt: skip
