"""What claims on ladders of pictures, of two layers and of residual networks, read. No torch."""

from __future__ import annotations

import numpy as np

from featlearn.core.claim_methods import Claims
from featlearn.core.claims import REFUTES_NOTHING, OutOfReach, first_of
from featlearn.core.frames import pick
from featlearn.universality.words import RANDOM, RAW, UNTRAINED

#: Shares of the labels, in per cent, of which a merged claim takes the worse.
FEW, ALL = 5, 100
#: Of claims on vectors, after which result they were changed.
TWENTY = (
    "Twenty replicates and fresh streams, after desk with five left 10 of 26 claims undecided; "
    "band kept. Then ten on vectors with 300 spurious features, where four showed falls of .2."
)
#: The same of claims that a stand-in does not refute.
NOTHING = f"{TWENTY} {REFUTES_NOTHING}"
#: Whose words several claims on Figures 7.1 and 7.3 quote.
AVERAGE_INCREASES = "“the average test accuracy on all pre-training datasets increases”"
TARGET_DECREASES = "“the test accuracy on the specific target task decreases”"


def stand_in(sizes: OutOfReach) -> OutOfReach:
    """Out of reach below ``sizes``, and on all data that stand in for pictures of the thesis."""
    return first_of(sizes, lambda _: "a stand-in; the paper prints this of its data.")


class Pictures(Claims):
    """Readings of the frame ``pictures``."""

    def mean(self, arm: str, mixture: int, tasks: int, percent: int) -> np.ndarray:
        """Accuracy on the first ``tasks`` sets, a number a replicate."""
        own = pick(self.pictures, arm=arm, mixture=mixture, percent=percent)
        return np.asarray(own[own["task"] < tasks].groupby("replicate")["value"].mean())

    def change(self, *, every: bool, percent: int = ALL) -> np.ndarray:
        """Accuracy after all sets less that after the target, on average or on the target."""
        last = int(self.pictures["mixture"].max())
        tasks = last if every else 1
        after, before = (self.mean("moco", mixture, tasks, percent) for mixture in (last, 1))
        return after - before

    def lead(self, percent: int) -> np.ndarray:
        """Accuracy on the target, pre-trained on it, less the best of what learns nothing."""
        rivals = [self.mean(arm, 0, 1, percent) for arm in (RAW, RANDOM, UNTRAINED)]
        return self.mean("moco", 1, 1, percent) - np.max(rivals, axis=0)
