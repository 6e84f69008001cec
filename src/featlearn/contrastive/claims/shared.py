"""How what was measured becomes a number a replicate, as the claims of several experiments read it.

Bands rest on the theory and on validation replicates, drawn from another base seed than any run
that is reported.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd

from featlearn.core.claims import POSITIVE, Claim, Measure, needs, read

Declare = Callable[..., Claim]


def declaring(artefact: str, **least: Any) -> Declare:
    """Declares the claims of an experiment: in reach from the ``least`` sizes on (:func:`needs`).

    What a claim says itself goes before.
    """

    def claim(name: str, **parts: Any) -> Claim:
        filled = {"artefact": artefact, "out_of_reach": needs(**least), **parts}
        return Claim(f"contrastive/{name}", **filled)

    return claim


def against_linear(
    declare: Declare, name: str, model: str, linear: str = "linear-exact", **parts: Any
) -> Claim:
    """A claim on the NMSE of a model over that of the best linear predictor."""
    parts = {"quantity": "NMSE over that of the best linear predictor", **parts}
    measure = nmse_over_linear(model, linear)
    return declare(name, possible=POSITIVE, measure=measure, **parts)


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


#: Was put out of reach with a sentence that read no size of the run.
EXCUSED = (
    "`not shown at this scale`, whatever the config, until a review: the excuse named no size of "
    "the run."
)
