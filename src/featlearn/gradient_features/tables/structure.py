"""The first step and the end of Algorithm 1 with structure and without."""

from __future__ import annotations

import pandas as pd

from featlearn.core.publish import Config, Table, table
from featlearn.core.stats import SPREAD_KIND, side_by_side, summary


@table()
def structure(
    neurons: pd.DataFrame, curves: pd.DataFrame, heads: pd.DataFrame, config: Config
) -> Table:
    """A parity with its structure and without: the first step, and accuracy on uniform inputs

    In a cone: of the width of the config, of the sampled first step and of the closed form. Length and
    noise: medians of |G| and of the root mean square of |G_n - G|.
    {{ said("gradient_features/structure-worth", holds="The network needs the structure",
    fails="The network does not need the structure so much") }}.
    """
    own = neurons.assign(**{
        column: neurons[column] > 1 - config["gamma"] for column in ("sampled", "population")
    })  # fmt: skip
    groups = own.groupby(["arm", "replicate"])
    first = groups[["sampled", "population"]].mean().join(groups[["size", "noise"]].median())
    last = curves[(curves["step"] == curves["step"].max()) & (curves["part"] == "all")]
    ends = pd.concat([last.assign(method="network"), heads], ignore_index=True)
    ends = ends.pivot_table(index=["arm", "replicate"], columns="method", values="value")
    whole = first.join(ends)
    long = whole.reset_index().melt(["arm", "replicate"], var_name="quantity", value_name="value")
    means = summary(long, ["arm", "quantity"])
    words = {
        "sampled": "in a cone", "population": "in a cone, closed form", "size": "length",
        "noise": "noise", "network": "network, last step", "linear": "linear",
        "random features": "random features",
    }  # fmt: skip
    named = means.assign(arm=means["arm"].map({"structured": config["structured"], "none": 0}))
    return Table(
        whole.groupby("arm").mean().reset_index(),
        side_by_side(named, ["arm"], "quantity", words).rename(columns={"arm": "p_A"}),
        f"{int(means['replicates'].max())} replicates, after the sign: {SPREAD_KIND}. Chance: 0.5.",
    )
