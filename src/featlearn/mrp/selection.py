"""Choosing a setting without looking at what is reported. No torch in here."""

from __future__ import annotations

import numpy as np
import pandas as pd

#: What a fine-tuning rate is chosen by: accuracy on all classes, both kinds of data alike.
CRITERIA = ("accuracy_multi_view", "accuracy_single_view")


def chosen_elsewhere(score: np.ndarray) -> np.ndarray:
    """For each replicate, the setting that is best on all the others.

    So a setting is never chosen on the replicate that it is reported on.

    Parameters
    ----------
    score : (settings, R)
        Higher is better; the first of equal ones wins.

    Returns
    -------
    ndarray
        (R,) indices. A single replicate has no others and gets its own best.
    """
    if score.shape[1] == 1:
        return score.argmax(0)
    # sums are rounded: settings that are equal on the others must not be told apart by rounding
    others = (score.sum(1, keepdims=True) - score).round(9)
    return others.argmax(0)


def reported(accuracy: pd.DataFrame) -> pd.DataFrame:
    """Of the fine-tuned networks of a case, for each replicate only that of the chosen rate.

    Parameters
    ----------
    accuracy
        ``transfer/accuracy.parquet``.
    """
    tuned = accuracy["recipe"] == "finetuned"
    criteria = accuracy[
        tuned & (accuracy["classes"] == "all") & accuracy["quantity"].isin(CRITERIA)
    ]
    keep = ~tuned
    for case, own in criteria.groupby("case"):
        score = own.pivot_table(
            index="encoder_rate", columns="replicate", values="value", aggfunc="mean"
        )
        best = score.index.to_numpy()[chosen_elsewhere(score.to_numpy())]
        rate_of = dict(zip(score.columns, best, strict=True))
        chosen = accuracy["replicate"].map(rate_of) == accuracy["encoder_rate"]
        keep |= tuned & (accuracy["case"] == case) & chosen
    return accuracy[keep].reset_index(drop=True)
