"""Reading one number a replicate off a tidy frame, as claims and figures do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd


def per_replicate(frame: pd.DataFrame, column: str = "value", **where: Any) -> np.ndarray:
    """The numbers of one row a replicate, in the order of the replicates.

    Parameters
    ----------
    frame
        With the columns ``replicate``, ``column`` and those of ``where``.
    column
        Which number.
    **where
        Columns and what they must be: a number up to rounding, None where there is none.

    Returns
    -------
    ndarray
        float64.

    Raises
    ------
    KeyError
        If no row is like that.
    ValueError
        If a replicate has several.
    """
    for name, wanted in where.items():
        frame = frame[_like(frame[name], wanted)]
    if frame.empty:
        raise KeyError(f"no row with {where}")
    if frame["replicate"].duplicated().any():
        raise ValueError(f"several rows a replicate with {where}")
    return frame.sort_values("replicate")[column].to_numpy(dtype=np.float64)


def _like(seen: pd.Series[Any], wanted: Any) -> Any:
    if wanted is None:
        return seen.isna()
    if isinstance(wanted, float):
        return np.isclose(seen, wanted)
    return seen == wanted
