"""What the claims of several experiments share.

Bands rest on the theory and on validation replicates, drawn from another base seed than any run
that is reported.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from featlearn.core.claims import Measure

OutOfReach = Callable[[Mapping[str, Any]], str | None]
#: Replicates below which a band on a mean over replicates was not derived.
LEAST_REPLICATES = 10


def at_least(section: str, atoms: int, replicates: int = LEAST_REPLICATES) -> OutOfReach:
    """``out_of_reach`` of claims whose bands were derived for so many atoms and replicates."""

    def too_small(config: Mapping[str, Any]) -> str | None:
        settings = config[section]
        own_atoms, own_replicates = settings["data"]["atoms"], settings["replicates"]
        if own_atoms >= atoms and own_replicates >= replicates:
            return None
        return (
            f"{own_atoms} atoms and {own_replicates} replicates; the band was derived for at "
            f"least {atoms} and {replicates}."
        )

    return too_small


def needs_replicates(section: str, least: int = LEAST_REPLICATES) -> OutOfReach:
    """Out of reach with fewer than ``least`` replicates in a section of the config."""

    def reason(config: Mapping[str, Any]) -> str | None:
        replicates = config[section]["replicates"]
        if replicates >= least:
            return None
        return f"{replicates} replicates; the band was derived for at least {least}."

    return reason


def pick(frame: pd.DataFrame, **filters: object) -> np.ndarray:
    """The ``value`` of one row a replicate, in their order.

    Raises
    ------
    KeyError
        If no row matches.
    ValueError
        If a replicate has several.
    """
    for column, wanted in filters.items():
        frame = frame[frame[column] == wanted]
    if frame.empty:
        raise KeyError(f"no rows with {filters}")
    if frame["replicate"].duplicated().any():
        raise ValueError(f"several rows a replicate with {filters}")
    return frame.sort_values("replicate")["value"].to_numpy(dtype=np.float64)


def nmse_over_linear(model: str, linear: str = "linear-exact") -> Measure:
    """NMSE of a model over that of the best linear predictor, from the frame ``evaluation``."""

    def measure(frames: Mapping[str, pd.DataFrame]) -> np.ndarray:
        frame = frames["evaluation"]
        own = pick(frame, model=model, quantity="nmse")
        return own / pick(frame, model=linear, quantity="nmse")

    return measure


def of_model(model: str, quantity: str) -> Measure:
    """A quantity of a model, from the frame ``evaluation``."""
    return lambda frames: pick(frames["evaluation"], model=model, quantity=quantity)
