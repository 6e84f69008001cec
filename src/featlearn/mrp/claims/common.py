"""What the claims of several experiments share."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from featlearn.core.claims import Measure
from featlearn.core.stats import per_replicate


def by_replicate(frame: pd.DataFrame, column: str = "value", how: str = "mean") -> np.ndarray:
    """One number a replicate: ``mean``, ``max``, ``min`` or ``median`` of its rows."""
    if frame.empty:
        raise KeyError(f"no rows to take the {how} of")
    return frame.groupby("replicate")[column].agg(how).sort_index().to_numpy(dtype=np.float64)


def values(frames: Mapping[str, pd.DataFrame], model: str, quantity: str) -> np.ndarray:
    """One number a replicate of a frame ``evaluation``, in their order."""
    return per_replicate(frames["evaluation"], model=model, quantity=quantity)


def of_model(model: str, quantity: str) -> Measure:
    """The same, to be measured."""
    return lambda frames: values(frames, model, quantity)


def minus(first: str, second: str, quantity: str) -> Measure:
    """Paired over replicates: both models of a replicate saw the same features and samples."""
    return lambda frames: values(frames, first, quantity) - values(frames, second, quantity)


def minus_best(model: str, opponents: tuple[str, ...], quantity: str) -> Measure:
    """A model minus that opponent which is best in the mean over replicates, paired.

    The opponent is chosen on what is judged, which favours it.
    """

    def measure(frames: Mapping[str, pd.DataFrame]) -> np.ndarray:
        found = [values(frames, opponent, quantity) for opponent in opponents]
        return values(frames, model, quantity) - max(found, key=np.mean)

    return measure
