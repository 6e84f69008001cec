"""First steps at which networks fit and answer, from their accuracies along the steps. No torch."""

from __future__ import annotations

import pandas as pd

from featlearn.fourier.config import ANSWERED, FITTED

#: Accuracies that are waited for: a training ends with both.
LEVELS = {"train": FITTED, "test": ANSWERED}


def passages(curves: pd.DataFrame) -> pd.DataFrame:
    """First steps at which each network was seen to fit and to answer.

    ``curves``: columns model, split, replicate, step, part and value.
    """
    keys, rows = ["model", "split", "replicate"], []
    for key, own in curves.groupby(keys, sort=False):
        first = {}
        for part, level in LEVELS.items():
            seen = own[own["part"] == part]
            passed = seen[seen["value"] >= level]["step"]
            first[part] = (passed.min() if len(passed) else seen["step"].max(), not len(passed))
        rows.append((*key, first["train"][0], first["test"][0], first["test"][1]))
    return pd.DataFrame(rows, columns=[*keys, "fitted", "answered", "censored"])
