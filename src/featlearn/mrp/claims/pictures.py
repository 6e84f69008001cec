"""What all claims on part-composed pictures share; bands fixed before replicates were drawn.

A difference counts from 0.02 on: five replicates of some hundred pictures a test set tell
differences of paired accuracies apart down to about that.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from featlearn.core.claims import DIFFERENCE_OF_SHARES, Measure, OutOfReach, needs
from featlearn.core.stats import per_replicate

#: Smallest difference that counts, and the band of a gain.
CLEAR = 0.02
GAIN: dict[str, Any] = {"low": CLEAR, "high": 1.0, "possible": DIFFERENCE_OF_SHARES}
#: Multi-view accuracy of a network that fits the multi-view pictures.
FITTED = 0.95
#: Epochs of pre-training below which the bands are not meant. On pilot streams the vision
#: transformer gained nothing in 25, much in 100: declared after shorter runs had shown no gain.
EPOCHS = {"simmim": 20, "mae": 100}
#: What was changed between a first report and this code.
CHANGED = (
    "Classes, noise, background and lengths of training were changed after a first run had been "
    "reported; the band is the first one."
)
#: What is said of those of which shorter runs had failed.
LONGER = "The epochs below which it is not shown were declared after shorter runs had failed."


def reach(*methods: str, **least: float) -> OutOfReach:
    """Out of reach with fewer replicates or pictures, or shorter pre-training by ``methods``."""
    own: dict[str, float] = {"comparison__replicates": 5, "samples__train": 1000}
    own |= {f"pretraining__{method}__training__epochs": EPOCHS[method] for method in methods}
    return needs(**(own | least))


def seen(frame: str, labels: str | None = None, **where: Any) -> Measure:
    """One number a replicate; ``labels``: with the most (``max``) or fewest (``min``) of them."""

    def measure(frames: Mapping[str, pd.DataFrame]) -> np.ndarray:
        own = frames[frame]
        most = {} if labels is None else {"labels": own["labels"].agg(labels)}
        return per_replicate(own, **where, **most)

    return measure


def less(first: Measure, second: Measure) -> Measure:
    """First minus second: a replicate has the same pictures and labels for both."""

    def measure(frames: Mapping[str, pd.DataFrame]) -> np.ndarray:
        both = first(frames), second(frames)
        if len(both[0]) != len(both[1]):
            raise ValueError(f"{len(both[0])} and {len(both[1])} replicates; expected the same")
        return both[0] - both[1]

    return measure
