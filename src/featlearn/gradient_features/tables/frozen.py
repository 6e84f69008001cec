"""The output layer alone after one step."""

from __future__ import annotations

import pandas as pd

from featlearn.core.publish import Table, table
from featlearn.core.stats import SPREAD_KIND, number, plus_minus, side_by_side, summary


@table()
def theorem_3_4(smooth: pd.DataFrame) -> Table:
    """Theorem 3.4 after the last step: losses, the two terms, and the measured smoothness

    Training loss over its bound, at its largest: {{ verdict("gradient_features/theorem-3.4") }}.
    """
    heads = {"train": "training loss", "bound": "bound of (B.12)", "test": "test loss",
             "rademacher": "complexity term", "smoothness": "L"}  # fmt: skip
    last = smooth[smooth["step"] == smooth["step"].max()]
    long = last.melt(["rule", "samples", "replicate"], list(heads), "quantity")
    means = summary(long, ["rule", "samples", "quantity"])
    return Table(
        means,
        side_by_side(means, ["rule", "samples"], "quantity", heads),
        f"Logistic loss over log 2, 1 at a = 0; {int(means['replicates'].max())} replicates, after "
        f"the sign: {SPREAD_KIND}. The complexity term has the norm of the bound's comparator.",
    )


@table()
def algorithms(curves: pd.DataFrame, heads: pd.DataFrame) -> Table:
    """Algorithms 6 and 7 after their last step, and fixed features on the same inputs

    What the best of these misses more than the network, of the parity of four:
    {{ verdict("gradient_features/uniform-parity-learned") }}; of the polynomial: {{ verdict("gradient_features/multi-index-learned") }}.
    """
    names = {"two": "parity of two, error", "four": "parity of four, error",
             "multi_index": "polynomial, energy missed"}  # fmt: skip
    last = curves[curves["step"] == curves.groupby("law")["step"].transform("max")]
    both = pd.concat([last.rename(columns={"reading": "method"}), heads], ignore_index=True)
    means = summary(both, ["law", "method"])
    train = both.groupby(["law", "method"])["train"].mean().rename("train").reset_index()
    whole = means.merge(train, on=["law", "method"])
    shown = whole.assign(
        test=[plus_minus(m, h) for m, h in zip(whole["mean"], whole["half_width"], strict=True)],
        train=[number(value) for value in whole["train"]],
        law=whole["law"].map(names),
    )[["law", "method", "test", "train"]]  # fmt: skip
    return Table(
        whole,
        shown,
        f"{int(means['replicates'].max())} replicates, after the sign: {SPREAD_KIND}. Chance is an "
        "error of 0.5, and an energy of 1.",
    )
