"""What is measured of the neurons of two-layer networks on pictures."""

from __future__ import annotations

import numpy as np
import pandas as pd

from featlearn.core.publish import Table, table
from featlearn.core.stats import side_by_side, summary

#: Baselines have no start; each is told with that of the table's last lines.
WORDS = {
    "train": "train accuracy",
    "test": "test accuracy",
    "directions": "directions",
    "along_star": "median cosine with E[y x]",
}
BASELINES = {
    "majority": "majority",
    "linear": "linear on the pixels",
    "random": "head on the start's neurons",
}
SETS = {"mnist": "for MNIST 0/1", "cifar10": "for CIFAR-10", "svhn": "for SVHN 0/1"}


@table()
def neuron_directions(values: pd.DataFrame) -> Table:
    """How many directions the neurons share

    Directions: the participation ratio of the squared singular values of the normalised weights, 1
    for two opposite groups, 2 for four groups along two orthogonal lines, near 28 for 50 random
    directions of 64 pixels. Start: the scale of the random start, 1 the usual one. Below: converged
    heads with penalties chosen on validation pictures. That no more than a third of the directions are left on
    the digits 0 and 1: {{ verdict("emergence/neurons-gather") }}; from a start a hundred times smaller:
    {{ verdict("emergence/neurons-gather-from-a-small-start") }}.
    """
    values = values.rename(columns={"cell": "pictures"})
    along = values[values["quantity"].isin(list(WORDS))].assign(arm="network")
    parts = []
    for arm in BASELINES:
        own = values[values["quantity"].str.startswith(arm)]
        parts.append(
            own.assign(arm=arm, quantity=own["quantity"].str.removeprefix(f"{arm}_")
                       .replace("majority", "test"))
        )  # fmt: skip
    means = summary(pd.concat([along, *parts]), ["pictures", "arm", "start", "step", "quantity"])
    # names that hold at every scale, for those who quote the table
    ends = means[means["arm"] == "network"].groupby("pictures")
    for name, column, words in (
        ("which", "start", ("smallest start", "largest start")),
        ("moment", "step", ("start", "end")),
    ):
        found = [means["pictures"].map(ends[column].agg(end)) for end in ("min", "max")]
        means[name] = np.select([means[column] == end for end in found], words, default="")
    shown = side_by_side(means, ["pictures", "arm", "start", "step"], "quantity", WORDS)
    shown["pictures"] = shown["pictures"].map(SETS)
    shown["arm"] = shown["arm"].map({"network": "network", **BASELINES})
    plain = shown["step"] < 0
    shown = shown.astype({"start": object, "step": object})
    shown.loc[plain, ["start", "step"]] = "-"
    return Table(means, shown)
