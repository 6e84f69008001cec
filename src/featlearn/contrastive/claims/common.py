"""What the claims of several experiments share.

Bands rest on the theory and on validation replicates, drawn from another base seed than any run
that is reported.
"""

from __future__ import annotations

from featlearn.core.claims import Measure, read


def nmse_over_linear(model: str, linear: str = "linear-exact") -> Measure:
    """NMSE of a model over that of the best linear predictor, from the frame ``evaluation``."""

    own, best = (of_model(name, "nmse") for name in (model, linear))
    return lambda frames: own(frames) / best(frames)


def of_model(model: str, quantity: str) -> Measure:
    """A quantity of a model, from the frame ``evaluation``."""
    return read("evaluation", model=model, quantity=quantity)
