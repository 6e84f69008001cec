"""The table beside Figure 5."""

from __future__ import annotations

import pandas as pd

from featlearn.core.publish import Table, table
from featlearn.core.stats import SPREAD_KIND, side_by_side, summary
from featlearn.noncontrastive.images.words import ARMS, set_name

COLUMNS = {
    "likeness": "likeness",
    "distinct": "distinct pictures",
    "chroma": "chroma",
    "live": "live channels",
    "accuracy": "probe accuracy",
    "rank": "rank, projection",
    "steadiness": "cosine under attack",
}


@table()
def robust_features(values: pd.DataFrame) -> Table:
    """Pictures that channels respond to

    How alike the pictures of Figure 5 are, how many channels can be raised at all, what a linear probe
    makes of the encoder, the effective rank of the projection, and how far features move under the attack
    of the training.
    """
    means = summary(values, ["data_set", "run", "quantity"])
    shown = side_by_side(means, ["data_set", "run"], "quantity", COLUMNS)
    shown = shown.assign(data_set=shown["data_set"].map(set_name), run=shown["run"].map(ARMS))
    return Table(
        means, shown.rename(columns={"data_set": "images", "run": "network"}),
        f"{int(means['replicates'].max())} replicates; after the sign: {SPREAD_KIND}. Likeness: "
        "mean absolute cosine of the pictures of two channels, as deviations from grey. Distinct "
        "pictures: exponential of the entropy of the spectrum of these cosines. Live: channels "
        "that the ascent can raise. Cosine under attack: between features of an image and of the "
        "attacked one.",
    )  # fmt: skip
