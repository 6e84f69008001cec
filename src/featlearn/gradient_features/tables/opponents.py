"""XOR: the network against fixed features."""

from __future__ import annotations

import pandas as pd

from featlearn.core.publish import Table, table
from featlearn.core.stats import SPREAD_KIND, number, side_by_side, summary

HEADS = {
    "bayes": "Bayes",
    "network": "network",
    "RBF kernel": "RBF kernel",
    "tangent kernel": "tangent kernel",
    "random features": "random features",
    "linear": "linear",
}


@table()
def xor_opponents(accuracies: pd.DataFrame) -> Table:
    """XOR of four Gaussians: test accuracy, and of the kernels the training accuracy

    The network over the better method that shares its start: {{ verdict("gradient_features/xor-beats-own-start") }}; over the
    best of all: {{ verdict("gradient_features/xor-beats-best-opponent") }}. Of the linear classifier over chance:
    {{ verdict("gradient_features/xor-needs-features") }}.
    """
    keys = ["noise", "dimension"]
    ordered = accuracies.sort_values([*keys, "replicate"])
    means = summary(ordered, [*keys, "method"])
    train = ordered.groupby([*keys, "method"])["train"].mean().rename("train").reset_index()
    whole = means.merge(train, on=[*keys, "method"])
    cells = side_by_side(means, keys, "method", HEADS).set_index(keys)
    wide = train.pivot_table(index=keys, columns="method", values="train").reindex(cells.index)
    for method, head in HEADS.items():
        if method != "bayes":
            both = zip(cells[head], wide[method], strict=True)
            cells[head] = [f"{cell} ({number(own)})" for cell, own in both]
    return Table(
        whole,
        cells.reset_index(),
        f"In brackets the accuracy on the training inputs; {int(means['replicates'].min())} "
        f"replicates, {int(means['replicates'].max())} where the claims compare; after the sign: "
        f"{SPREAD_KIND}. Chance, and the more frequent class: 0.5.",
    )
