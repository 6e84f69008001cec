"""Whether the trade-off appears on vectors, and where it does not."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from featlearn.core.claims import (
    CONTROL,
    DIFFERENCE_OF_SHARES,
    OBSERVATION,
    SHARE,
    THEOREM,
    Claim,
    Measure,
    needs,
)
from featlearn.core.stats import per_replicate
from featlearn.universality.curves import curves
from featlearn.universality.words import KEPT, OPPONENTS, WORLD

FOLDER = "universality/measurements/ladders"
Frames = Mapping[str, pd.DataFrame]


def claims(config: Mapping[str, Any]) -> tuple[Claim, ...]:
    """At the sizes of the config; bands do not depend on it."""
    own = config.get("ladders", config)
    last = max(own["mixtures"])

    def change(arm: str, curve: str, percent: float = 100) -> Measure:
        def of(frames: Frames) -> np.ndarray:
            frame = curves(frames["accuracies"], own, percent)
            after, before = (
                per_replicate(frame, arm=arm, curve=curve, mixture=mixture, world=WORLD)
                for mixture in (last, 1)
            )
            return after - before

        return of

    def harder(frames: Frames) -> np.ndarray:
        return change("MoCo, 8", "target", 5)(frames) - change("MoCo, 8", "target")(frames)

    reach = needs(ladders__replicates=5, ladders__steps=400, ladders__mixtures=8)
    claim = partial(
        Claim, artefact=f"{FOLDER}/accuracies.parquet", out_of_reach=reach,
        possible=DIFFERENCE_OF_SHARES,
        quantity="accuracy after pre-training on all tasks less that on the target alone",
    )  # fmt: skip
    pilot = "A pilot on other streams and an earlier one of other sizes: "
    return (
        claim("universality/average-rises", THEOREM, "Figure 7.1", low=0.05, high=1,
              statement="The average over the tasks rises (MoCo, width 8).",
              reason=pilot + "a rise of more than .1.", measure=change("MoCo, 8", "average")),
        claim("universality/target-falls", THEOREM, "Figure 7.1", low=-1, high=-0.02,
              statement="The target falls (MoCo, width 8).",
              reason=pilot + "a fall of .03 to .12.", measure=change("MoCo, 8", "target")),
        claim("universality/falls-more-with-few-labels", THEOREM, "Figures F.9 to F.13", low=-1,
              high=0, statement="The target falls more with 5 % of the labels than with all.",
              reason="The thesis; our theory says so of noisy labels only.", measure=harder),
        claim("universality/no-trade-off-with-room", OBSERVATION, "ours", low=0, high=1,
              statement="With a width of 32 the target does not fall (MoCo).",
              reason="An earlier pilot of other sizes: a rise of .03 to .06.",
              measure=change("MoCo, 32", "target")),
        claim("universality/similarity-falls", THEOREM, "Figure 7.5", low=0, high=0.97,
              quantity="CKA of the target's features between the two, biased", possible=SHARE,
              statement="Features of the target change as tasks are added (MoCo, width 8).",
              reason="An earlier pilot of other sizes: .90.",
              artefact=f"{FOLDER}/similarities.parquet",
              measure=lambda frames: per_replicate(
                  frames["similarities"], arm=KEPT, first="1", second=str(last),
                  estimator="biased", world=WORLD)),
        claim("universality/learned-not-raw", CONTROL, "ours", low=0.05, high=1,
              quantity="accuracy at 5 % of the labels, pre-training on the target, less "
              "the best of raw input, random features and the untrained network",
              statement="What is probed was learned (MoCo, width 8).",
              reason="Labels are an argmax of linear maps: the raw input itself can be probed.",
              measure=partial(_learned, own=own)),
    )  # fmt: skip


def _learned(frames: Frames, own: Mapping[str, Any]) -> np.ndarray:
    frame = curves(frames["accuracies"], own, 5)
    frame = frame[(frame["curve"] == "target") & (frame["world"] == WORLD)]
    rivals = [per_replicate(frame, arm=arm, mixture=0) for arm in OPPONENTS]
    return per_replicate(frame, arm=KEPT, mixture=1) - np.max(rivals, axis=0)
