"""The numbers behind the cones."""

from __future__ import annotations

import pandas as pd

from featlearn.core.publish import Config, Table, table
from featlearn.core.stats import SPREAD_KIND, readable, side_by_side, summary
from featlearn.gradient_features.words import LAWS

COLUMNS = {
    "start": "in a cone at the start",
    "sampled": "after the first step",
    "predicted": "closed form, with noise",
    "population": "closed form",
    "size": "length over B_G",
}


@table()
def cones(neurons: pd.DataFrame, config: Config) -> Table:
    """Neurons in a cone: before the first step, after it, and in closed form

    Half of the neurons on linear data: {{ verdict("gradient_features/cones-linear") }}. Those that start constant on
    the block of a uniform parity, over their number: {{ verdict("gradient_features/cones-uniform-parity") }}.
    """
    inside = neurons[["law", "replicate", "size"]].copy()
    for column in ("start", "sampled", "predicted", "population"):
        inside[column] = (neurons[column] > 1 - config["gamma"]).astype(float)
    shares = inside.groupby(["law", "replicate"], sort=False)[list(COLUMNS)].mean().reset_index()
    long = shares.melt(["law", "replicate"], list(COLUMNS), "quantity")
    means = summary(long, ["law", "quantity"])
    named = means.assign(law=means["law"].map(LAWS))
    return Table(
        means,
        side_by_side(named, ["law"], "quantity", COLUMNS),
        f"Shares of the neurons that are no copies, |cos| > {1 - config['gamma']:g}, and their mean "
        f"length over the leading term of B_G; {int(means['replicates'].max())} replicates, after "
        f"the sign: {SPREAD_KIND}.",
    )


@table()
def xor_dimension(dimensions: pd.DataFrame) -> Table:
    """Sure starts of the XOR in the cone that Lemma B.37 prints

    All of them, the lemma says: {{ verdict("gradient_features/cones-xor-as-printed") }}. Power of the dimension that their
    share goes with: {{ verdict("gradient_features/cones-xor-decay") }}.
    """
    heads = {"in_cone": "share in the cone", "off": "median 1 - |cos|", "size": "length over B_G"}
    keys = ["dimension", "gamma"]
    long = dimensions.melt([*keys, "replicate"], list(heads), "quantity")
    means = summary(long, [*keys, "quantity"])
    return Table(
        dimensions.groupby(keys)[list(heads)].mean().reset_index(),
        side_by_side(means, keys, "quantity", heads),
        f"Starts drawn given the lemma's event; {int(means['replicates'].max())} replicates, after "
        f"the sign: {SPREAD_KIND}.",
    )


@table()
def sure_starts(sure: pd.DataFrame) -> Table:
    """Over the threshold: all starts, sure starts, their partners

    At the highest: sure starts of the mixture in the cone, {{ verdict("gradient_features/cones-mixture") }}; their length over B_G,
    {{ verdict("gradient_features/cones-mixture-size") }}, of the parity {{ verdict("gradient_features/cones-parity-size") }}; partners with
    three blocks, {{ verdict("gradient_features/cones-parity-negative") }}.
    """
    heads = {
        "hit": "all starts in a cone",
        "sure_hit": "of the sure, in the cone",
        "partner_hit": "of their partners",
        "sure_size": "length over B_G",
    }
    long = sure.melt(["law", "ratio", "probability", "replicate"], list(heads), "quantity")
    means = summary(long, ["law", "ratio", "probability", "quantity"])
    named = means.assign(law=means["law"].map(LAWS))
    shown = side_by_side(named, ["law", "ratio", "probability"], "quantity", heads)
    shown["probability"] = [f"{value:.2g}" for value in shown["probability"]]
    names = {"ratio": "threshold", "probability": "sure"}
    return Table(means, shown.rename(columns=names), f"After the sign: {SPREAD_KIND}.")


@table()
def concentration(concentration: pd.DataFrame) -> Table:
    """The error of a sampled gradient over the number of inputs

    Its power of n: {{ verdict("gradient_features/cones-concentration") }}.
    """
    means = summary(concentration, ["samples"])
    return Table(means, readable(means, "error"))
