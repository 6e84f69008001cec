"""Whether the trade-off appears on small pictures."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np
import pandas as pd

from featlearn.core.claims import CONTROL, DIFFERENCE_OF_SHARES, THEOREM, Claim, needs
from featlearn.universality.words import RANDOM, RAW, UNTRAINED

Frames = Mapping[str, pd.DataFrame]
ARM = "moco"


def _mean(frames: Frames, arm: str, mixture: int, tasks: int, percent: int) -> np.ndarray:
    """Accuracy on the first ``tasks`` sets, a number a replicate."""
    own = frames["pictures"]
    own = own[(own["arm"] == arm) & (own["mixture"] == mixture) & (own["percent"] == percent)]
    return own[own["task"] < tasks].groupby("replicate")["value"].mean().to_numpy()


def _change(frames: Frames, every: bool) -> np.ndarray:
    last = int(frames["pictures"]["mixture"].max())
    tasks = last if every else 1
    return _mean(frames, ARM, last, tasks, 100) - _mean(frames, ARM, 1, tasks, 100)


def _learned(frames: Frames) -> np.ndarray:
    rivals = [_mean(frames, arm, 0, 1, 5) for arm in (RAW, RANDOM, UNTRAINED)]
    return _mean(frames, ARM, 1, 1, 5) - np.max(rivals, axis=0)


_claim = partial(
    Claim, artefact="universality/measurements/pictures/pictures.parquet",
    out_of_reach=needs(pictures__replicates=5, pictures__steps=300), possible=DIFFERENCE_OF_SHARES,
    quantity="accuracy after pre-training on all sets less that on the target alone, all labels",
)  # fmt: skip

CLAIMS = (
    _claim("universality/pictures-target-falls", THEOREM, "Figure 7.1", low=-1, high=-0.02,
           statement="On pictures, too, the target falls (MoCo, width 8).",
           reason="The band of the vectors; a pilot on other streams: a fall of .09.",
           measure=partial(_change, every=False)),
    _claim("universality/pictures-average-rises", THEOREM, "Figure 7.1", low=0, high=1,
           statement="On pictures, too, the average over the sets rises (MoCo, width 8).",
           reason="The thesis; a pilot on other streams: a rise of .04.",
           measure=partial(_change, every=True)),
    _claim("universality/pictures-learned-not-raw", CONTROL, "ours", low=0.05, high=1,
           quantity="accuracy at 5 % of the labels, pre-training on the target, less the best of "
           "raw pixels, random features and the untrained network",
           statement="What is probed was learned (MoCo, width 8).",
           reason="The band of the vectors; with all labels pixels do as well.", measure=_learned),
)  # fmt: skip
