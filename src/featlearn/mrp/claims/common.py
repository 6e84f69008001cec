"""What the claims of several experiments share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd

#: Replicates below which a band on a mean over replicates was not derived.
LEAST_REPLICATES = 10

OutOfReach = Callable[[Mapping[str, Any]], str | None]


def needs_replicates(section: str, least: int = LEAST_REPLICATES) -> OutOfReach:
    """Out of reach with fewer than ``least`` replicates in a section of the config."""

    def reason(config: Mapping[str, Any]) -> str | None:
        replicates = config[section]["replicates"]
        if replicates >= least:
            return None
        return f"{replicates} replicates; the band was derived for at least {least}."

    return reason


def by_replicate(frame: pd.DataFrame, column: str = "value", how: str = "mean") -> np.ndarray:
    """One number a replicate: ``mean``, ``max``, ``min`` or ``median`` of its rows."""
    if frame.empty:
        raise KeyError(f"no rows to take the {how} of")
    return frame.groupby("replicate")[column].agg(how).sort_index().to_numpy(dtype=np.float64)
