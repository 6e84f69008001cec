"""What Algorithm 1 ends at, and what fixed features reach."""

from __future__ import annotations

import pandas as pd

from featlearn.core.publish import Table, table
from featlearn.core.stats import SPREAD_KIND, side_by_side, summary
from featlearn.gradient_features.words import LAWS

HEADS = {"network": "network, last step", "linear": "linear", "random features": "random features"}


@table()
def learning(curves: pd.DataFrame, heads: pd.DataFrame) -> Table:
    """Test accuracy of Algorithm 1 after its last step, of a linear classifier, of random features

    On the parity, over the better of these and of the simplest rule: {{ verdict("gradient_features/parity-learned") }}.
    """
    own = curves[(curves["arm"] == "network") & (curves["part"] == "all")]
    last = own[own["step"] == own.groupby("law")["step"].transform("max")]
    both = pd.concat([last.assign(method="network"), heads], ignore_index=True)
    means = summary(both, ["law", "method"])
    train = heads.groupby(["law", "method"])["train"].mean().rename("train").reset_index()
    # the law of the lottery tickets has its own number
    replicates = " or ".join(str(int(count)) for count in sorted(means["replicates"].unique()))
    named = means.assign(law=means["law"].map(LAWS))
    return Table(
        means.merge(train, on=["law", "method"], how="left"),
        side_by_side(named, ["law"], "method", HEADS),
        f"{replicates} replicates, after the sign: {SPREAD_KIND}. Heads see one "
        "training set, the network fresh inputs in each step. Chance, and the more frequent class: "
        "0.5.",
    )
