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
#: What was changed of the claims on vectors, after which result.
TWENTY = (
    "Twenty replicates and fresh streams, after desk with five left 10 of 26 claims undecided; "
    "band kept."
)
#: Of claims that look at 5 % of the labels, and of their control at all.
ADDED = "Added after a published run, which had its numbers; the band is that of the claim at {}."
NAMED = " The sentence names the labels, after a review of a published run."
_SIZES = (
    "64 hidden neurons, a rate of .01, linear heads and an average over one task a rung, after "
    "pilots in which heads collapsed and a queue lagged, and a desk run that "
    "no-trade-off-with-room failed. "
)


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
        possible=DIFFERENCE_OF_SHARES, changed=_SIZES + TWENTY,
        quantity="accuracy after pre-training on all tasks less that on the target alone, all "
        "labels",
    )  # fmt: skip
    few = partial(
        claim, kind=OBSERVATION, source="ours, behind Figure 7.1",
        quantity="accuracy after pre-training on all tasks less that on the target alone, 5 % of "
        "the labels",
        reason="As with all labels. With so few a probe of the target's features leads one of the "
        "raw input; with all it does not.",
        changed=ADDED.format("all labels"),
    )  # fmt: skip
    pilot = "A pilot on other streams and an earlier one of other sizes: "
    return (
        claim("universality/average-rises", THEOREM, "Figure 7.1", low=0.05, high=1,
              statement="With all labels the average accuracy over the tasks rises with the number "
              "of tasks of the pre-training (MoCo, width 8).",
              reason=pilot + "a rise of more than .1.", measure=change("MoCo, 8", "average"),
              changed=_SIZES + TWENTY + NAMED),
        claim("universality/target-falls", THEOREM, "Figure 7.1", low=-1, high=-0.02,
              statement="With all labels the accuracy on the target falls with the number of tasks "
              "of the pre-training (MoCo, width 8).",
              reason=pilot + "a fall of .03 to .12.", measure=change("MoCo, 8", "target"),
              changed=_SIZES + TWENTY + NAMED),
        few("universality/average-rises-few-labels", low=0.05, high=1,
            statement="With 5 % of the labels, too, the average accuracy over the tasks rises "
            "with the number of tasks of the pre-training (MoCo, width 8).",
            measure=change("MoCo, 8", "average", 5)),
        few("universality/target-falls-few-labels", low=-1, high=-0.02,
            statement="With 5 % of the labels, too, the accuracy on the target falls with the "
            "number of tasks of the pre-training (MoCo, width 8).",
            measure=change("MoCo, 8", "target", 5)),
        claim("universality/falls-more-with-few-labels", THEOREM, "Figures F.9 to F.13", low=-1,
              high=0, statement="The accuracy on the target falls more with 5 % of the labels than "
              "with all.", quantity="change from pre-training on the target alone to all tasks, "
              "5 % of the labels less all",
              reason="The thesis; our theory says so of noisy labels only.", measure=harder),
        claim("universality/no-trade-off-with-room", OBSERVATION, "ours", low=0, high=1,
              statement="With a width of 32 the accuracy on the target does not fall (MoCo).",
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
              statement="With 5 % of the labels a probe of vectors reads what was learned (MoCo, "
              "width 8).",
              reason="Labels are an argmax of linear maps: the raw input itself can be probed.",
              measure=partial(_learned, own=own)),
        claim("universality/learned-not-raw-all-labels", CONTROL, "ours", low=0.05, high=1,
              quantity="accuracy with all labels, pre-training on the target, less the best of raw "
              "input, random features and the untrained network",
              statement="With all labels, too, a probe of vectors reads what was learned (MoCo, "
              "width 8).",
              reason="As with 5 % of the labels. The raw input has .93, so that it is expected to "
              "fail.", changed=ADDED.format("5 % of the labels"),
              measure=partial(_learned, own=own, percent=100)),
    )  # fmt: skip


def _learned(frames: Frames, own: Mapping[str, Any], percent: float = 5) -> np.ndarray:
    frame = curves(frames["accuracies"], own, percent)
    frame = frame[(frame["curve"] == "target") & (frame["world"] == WORLD)]
    rivals = [per_replicate(frame, arm=arm, mixture=0) for arm in OPPONENTS]
    return per_replicate(frame, arm=KEPT, mixture=1) - np.max(rivals, axis=0)
