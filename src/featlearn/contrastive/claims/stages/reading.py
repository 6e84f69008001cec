"""How what was measured of the stages becomes a number a replicate."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from featlearn.contrastive.claims.shared import declaring, ratio
from featlearn.core.claims import LEAST_REPLICATES, Measure, difference, read

MOMENTS = "contrastive/measurements/stages/moments.parquet"
EVALUATION = "contrastive/measurements/stages/evaluation.parquet"
LABELS = "contrastive/measurements/stages/labels.parquet"
DECOUPLING = "contrastive/measurements/stages/decoupling.parquet"
#: Size and length for which the bands were derived.
ATOMS, STEPS = 32, 600


def seen(quantity: str, moment: str = "end", arm: str = "masked") -> Measure:
    """A quantity of an arm at a moment."""
    return read("moments", arm=arm, moment=moment, quantity=quantity)


def diagonal(masking: str, kind: str) -> Measure:
    """Mean diagonal of the decoupling matrix over directions of a kind."""

    def measure(frames: Mapping[str, pd.DataFrame]) -> np.ndarray:
        frame = frames["decoupling"]
        own = frame[(frame["masking"] == masking) & (frame["first"] == frame["second"])]
        own = own[own["first"].str.startswith(kind)]
        return own.groupby("replicate")["measured"].mean().sort_index().to_numpy()

    return measure


def above_floor(loss: str = "loss") -> Measure:
    """``(loss - floor) / (loss at the start - floor)``, with RandomMask at the end.

    1 for an uninformed network, 0 for a perfect code.
    """
    floor = seen("floor")
    return ratio(difference(seen(loss), floor), difference(seen("loss", "start"), floor))


#: A claim on the moments, unless it says another artefact.
claim = declaring(
    MOMENTS,
    stages__data__atoms=ATOMS,
    stages__training__steps=STEPS,
    stages__replicates=LEAST_REPLICATES,
)
