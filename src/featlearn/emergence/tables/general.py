"""The general setting of appendix A.8, level by level of the noise."""

from __future__ import annotations

import pandas as pd

from featlearn.core.publish import Table, table
from featlearn.core.stats import SPREAD_KIND, side_by_side, summary
from featlearn.emergence.reading import ARMS, accuracies, by_replicate, rows

#: Arms of the table, as people call them.
SHOWN = {
    "network": "network", "two_step": "head after two steps", "ntk": "NTK",
    "rf": "random features", "rbf": "RBF kernel", "linear": "linear on the input",
    "threshold": "best threshold on the count", "known patterns": "least squares on the patterns",
    "cosine": "cosine after two steps", "mu": "incoherence (mu)",
}  # fmt: skip


def outcomes(values: pd.DataFrame) -> pd.DataFrame:
    """Rows noise, arm, replicate, value: test accuracies, and of what is no arm what it is of."""
    found = []
    others = {"cosine": ("two_step", "median_cosine"), "mu": ("dictionary", "mu")}
    for cell, own in values.groupby("cell", sort=False):
        for arm in SHOWN:
            name, quantity = others.get(arm, (arm, "test"))
            seen = (accuracies(own, str(cell), arm, "test") if arm in ARMS
                    else by_replicate(rows(own, arm=name), quantity))  # fmt: skip
            each = seen.rename("value").reset_index()
            found.append(each.assign(noise=float(own["noise"].iloc[0]), arm=arm))
    return pd.concat(found, ignore_index=True).sort_values("noise", kind="stable")


@table("general")
def general(values: pd.DataFrame) -> Table:
    """The general setting: patterns that overlap, inputs with noise

    Test accuracies on parity labels by the noise in each coordinate (sigma_zeta): arms as in Table A.1. Below:
    the patterns by least squares with the true dictionary, each rounded to 0 or 1, the relevant ones counted;
    cosine of the median neuron with the sum of the relevant patterns; sqrt(d) times the largest inner
    product of two patterns, of which Theorem A.28 asks that it be O(sqrt(d) / D). *What to see:*
    {{ said("emergence/general-beats-fixed", holds="at noise 0.1 the network is ahead of all these fixed features",
    fails="at noise 0.1 the network is not ahead of all these fixed features") }}, by its lead over the best of them.
    """
    found = summary(outcomes(values), ["arm", "noise"])
    words = found["noise"].map(lambda noise: f"noise {noise:g}")
    named = found.assign(arm=found["arm"].map(SHOWN), noise=words)
    shown = side_by_side(named, ["arm"], "noise", {name: name for name in words.unique()})
    replicates = int(found["replicates"].max())
    # for texts, as scales have other levels
    most = (found["noise"] == found["noise"].max()).map({True: "most noise", False: ""})
    return Table(
        found.assign(which=most), shown, f"{replicates} replicates; after the sign: {SPREAD_KIND}."
    )
