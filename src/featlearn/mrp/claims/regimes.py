"""Reading one number a replicate off the frames of a sweep."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd

#: Fewer replicates than the bands of the sweeps were derived for.
LEAST_REPLICATES = 10


def replicates(frame: pd.DataFrame, model: str, quantity: str, **where: float) -> np.ndarray:
    """The values of one quantity, in the order of the replicates.

    Parameters
    ----------
    **where
        Column and value of the point of the sweep.
    """
    chosen = frame[(frame["model"] == model) & (frame["quantity"] == quantity)]
    for column, value in where.items():
        chosen = chosen[np.isclose(chosen[column], value)]
    if chosen.empty:
        raise KeyError(f"{quantity} of {model} at {where}")
    if chosen["replicate"].duplicated().any():
        raise ValueError(f"{quantity} of {model} at {where}: more than one point")
    return chosen.sort_values("replicate")["value"].to_numpy()


def too_few_replicates(section: str) -> Callable[[Mapping[str, Any]], str | None]:
    """For ``out_of_reach``: the section has fewer replicates than the bands ask for."""

    def reason(config: Mapping[str, Any]) -> str | None:
        count = config[section]["replicates"]
        if count < LEAST_REPLICATES:
            return (
                f"{count} replicates and a few steps; the band was derived for {LEAST_REPLICATES}."
            )
        return None

    return reason
