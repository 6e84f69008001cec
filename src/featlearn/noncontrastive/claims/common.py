"""What the claims of several experiments share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from featlearn.core.claims import Measure

OutOfReach = Callable[[Mapping[str, Any]], str | None]
#: Replicates for which bands were derived.
LEAST_REPLICATES = 10


def needs_replicates(section: str, least: int = LEAST_REPLICATES) -> OutOfReach:
    """Out of reach with fewer replicates than the bands were derived for."""

    def reason(config: Mapping[str, Any]) -> str | None:
        replicates = config[section]["replicates"]
        if replicates >= least:
            return None
        return f"{replicates} replicates; the band was derived for at least {least}."

    return reason


def first_of(*reasons: OutOfReach) -> OutOfReach:
    """The first reason why a scale is out of reach."""

    def reason(config: Mapping[str, Any]) -> str | None:
        return next((said for test in reasons if (said := test(config))), None)

    return reason


def read(frame: str, quantity: str, **where: Any) -> Measure:
    """One number a replicate: the rows of a quantity in a tidy frame."""
    return lambda frames: values(frames[frame], quantity, **where)


def values(frame: pd.DataFrame, quantity: str, **where: Any) -> np.ndarray:
    """The values of a quantity, sorted by replicate; further columns must equal ``where``."""
    chosen = frame[frame["quantity"] == quantity]
    for column, value in where.items():
        chosen = chosen[chosen[column] == value]
    if chosen.empty:
        raise KeyError(f"{quantity} with {where}")
    return chosen.sort_values("replicate")["value"].to_numpy(dtype=np.float64)
