"""How what was measured becomes a number a replicate, as the claims of several experiments read it.

Bands rest on the theory and on validation replicates, drawn from another base seed than any run
that is reported.
"""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from featlearn.core.claims import Measure, OutOfReach, read


def of_model(model: str, quantity: str) -> Measure:
    """A quantity of a model, from the frame ``evaluation``."""
    return read("evaluation", model=model, quantity=quantity)


def ratio(first: Measure, second: Measure) -> Measure:
    """``first`` over ``second``, replicate by replicate."""
    return lambda frames: first(frames) / second(frames)


def nmse_over_linear(model: str, linear: str = "linear-exact") -> Measure:
    """NMSE of a model over that of the best linear predictor."""
    return ratio(of_model(model, "nmse"), of_model(linear, "nmse"))


def wide(
    frames: Mapping[str, pd.DataFrame], name: str, columns: str, value: str = "value", **where: str
) -> pd.DataFrame:
    """Some rows of a frame: a row a replicate, a column a value of ``columns``."""
    own = frames[name]
    for column, wanted in where.items():
        own = own[own[column] == wanted]
    if own.empty:
        raise KeyError(f"{name}: no row with {where}")
    return own.pivot_table(index="replicate", columns=columns, values=value)


def always(why: str) -> OutOfReach:
    """What no config can show, and why."""
    return lambda config: why
