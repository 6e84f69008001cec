"""Whether the trade-off appears on small pictures."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np
import pandas as pd

from featlearn.core.claims import (
    CONTROL,
    DIFFERENCE_OF_SHARES,
    OBSERVATION,
    THEOREM,
    Claim,
    needs,
)
from featlearn.universality.claims.ladders import ADDED, NAMED
from featlearn.universality.words import RANDOM, RAW, UNTRAINED

Frames = Mapping[str, pd.DataFrame]
ARM = "moco"


def _mean(frames: Frames, arm: str, mixture: int, tasks: int, percent: int) -> np.ndarray:
    """Accuracy on the first ``tasks`` sets, a number a replicate."""
    own = frames["pictures"]
    own = own[(own["arm"] == arm) & (own["mixture"] == mixture) & (own["percent"] == percent)]
    return own[own["task"] < tasks].groupby("replicate")["value"].mean().to_numpy()


def change(frames: Frames, every: bool, percent: int = 100) -> np.ndarray:
    """Accuracy after all sets less that after the target, on average or on the target."""
    last = int(frames["pictures"]["mixture"].max())
    tasks = last if every else 1
    return _mean(frames, ARM, last, tasks, percent) - _mean(frames, ARM, 1, tasks, percent)


def learned(frames: Frames, percent: int = 5) -> np.ndarray:
    """Accuracy on the target, pre-trained on it, less the best of what learns nothing."""
    rivals = [_mean(frames, arm, 0, 1, percent) for arm in (RAW, RANDOM, UNTRAINED)]
    return _mean(frames, ARM, 1, 1, percent) - np.max(rivals, axis=0)


_VIEWS = (
    "A room of 1 pixel and a noise of .1 in views, after pilots on other streams in which with 4 "
    "and .2 nothing was learned; the band of the rise is from 0."
)
_claim = partial(
    Claim, artefact="universality/measurements/pictures/pictures.parquet", changed=_VIEWS,
    out_of_reach=needs(pictures__replicates=5, pictures__steps=300), possible=DIFFERENCE_OF_SHARES,
    quantity="accuracy after pre-training on all sets less that on the target alone, all labels",
)  # fmt: skip
_few = partial(
    _claim, kind=OBSERVATION, source="ours, behind Figure 7.1", changed=ADDED.format("all labels"),
    quantity="accuracy after pre-training on all sets less that on the target alone, 5 % of the "
    "labels", reason="As with all labels.",
)  # fmt: skip

CLAIMS = (
    _claim("universality/pictures-target-falls", THEOREM, "Figure 7.1", low=-1, high=-0.02,
           statement="With all labels the accuracy on the target set of pictures falls with the "
           "number of sets of the pre-training (MoCo, width 8).",
           reason="The band of the vectors; a pilot on other streams: a fall of .09.",
           measure=partial(change, every=False), changed=_VIEWS + NAMED),
    _claim("universality/pictures-average-rises", THEOREM, "Figure 7.1", low=0, high=1,
           statement="With all labels the average accuracy over the sets of pictures rises with "
           "the number of sets of the pre-training (MoCo, width 8).",
           reason="The thesis; a pilot on other streams: a rise of .04.",
           measure=partial(change, every=True), changed=_VIEWS + NAMED),
    _few("universality/pictures-target-falls-few-labels", low=-1, high=-0.02,
         statement="With 5 % of the labels, too, the accuracy on the target set of pictures falls "
         "with the number of sets of the pre-training (MoCo, width 8).",
         measure=partial(change, every=False, percent=5)),
    _few("universality/pictures-average-rises-few-labels", low=0, high=1,
         statement="With 5 % of the labels, too, the average accuracy over the sets of pictures "
         "rises with the number of sets of the pre-training (MoCo, width 8).",
         measure=partial(change, every=True, percent=5)),
    _claim("universality/pictures-learned-not-raw", CONTROL, "ours", low=0.05, high=1,
           quantity="accuracy at 5 % of the labels, pre-training on the target, less the best of "
           "raw pixels, random features and the untrained network",
           statement="With 5 % of the labels a probe of pictures reads what was learned (MoCo, "
           "width 8).",
           reason="The band of the vectors; with all labels pixels do as well.", measure=learned),
    _claim("universality/pictures-learned-not-raw-all-labels", CONTROL, "ours", low=0.05, high=1,
           quantity="accuracy with all labels, pre-training on the target, less the best of raw "
           "pixels, random features and the untrained network",
           statement="With all labels, too, a probe of pictures reads what was learned (MoCo, "
           "width 8).",
           reason="The band of 5 % of the labels.", changed=ADDED.format("5 % of the labels"),
           measure=partial(learned, percent=100)),
)  # fmt: skip
