"""The later steps: the plateau of the parity (B.3.1), its end, and lottery tickets (Prop. B.1).

Bands rest on the theory; sizes and lengths come from pilots on other random streams.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from featlearn.core.claims import (
    DIFFERENCE_OF_SHARES,
    OBSERVATION,
    THEOREM,
    Claim,
    needs,
)
from featlearn.gradient_features.config import majority_plateau

Frames = Mapping[str, pd.DataFrame]

#: Steps between which the plateau of the parity is looked at.
EARLY = (10, 100)
#: Steps over which two sets of neurons are compared.
FIRST = 20


def _accuracies(frames: Frames, law: str, arm: str = "network") -> pd.DataFrame:
    frame = frames["curves"]
    return frame[(frame["law"] == law) & (frame["arm"] == arm) & (frame["part"] == "all")]


def _last(frames: Frames, law: str, arm: str = "network") -> np.ndarray:
    own = _accuracies(frames, law, arm)
    return own[own["step"] == own["step"].max()].groupby("replicate")["value"].mean().to_numpy()


def _plateau(frames: Frames, level: float) -> np.ndarray:
    own = _accuracies(frames, "parity")
    early = own[own["step"].between(*EARLY)]
    return early.groupby("replicate")["value"].median().to_numpy() - level


def _left(frames: Frames, level: float) -> np.ndarray:
    heads = frames["heads"]
    fixed = heads[heads["law"] == "parity"].groupby("replicate")["value"].max().to_numpy()
    return _last(frames, "parity") - np.maximum(fixed, level)


def _faster(frames: Frames, law: str) -> np.ndarray:
    means = []
    for arm in ("in cones", "by chance"):
        own = _accuracies(frames, law, arm)
        first = own[own["step"] <= FIRST]
        means.append(first.groupby("replicate")["value"].mean().to_numpy())
    return means[0] - means[1]


def _suffice(frames: Frames, law: str) -> np.ndarray:
    return _last(frames, law, "in cones") - _last(frames, law)


def claims(config: Mapping[str, Any]) -> tuple[Claim, ...]:
    """At the sizes of the config, with the plateau that they predict."""
    own = config["learning"]
    parity, law = own["laws"]["parity"], own["lottery"]["law"]
    level = majority_plateau(parity["block"], parity["structured"])
    claim = partial(
        Claim, artefact="gradient_features/measurements/learning/curves.parquet",
        possible=DIFFERENCE_OF_SHARES,
    )  # fmt: skip
    reach = partial(needs, learning__replicates=5, learning__neurons=100)
    tickets = partial(reach, learning__lottery__replicates=20)
    twenty = (
        "Twenty tickets and twenty replicates, after desk had .13 [-.08, .34] over chance with all "
        "neurons in cones and five; band kept."
    )
    return (
        claim("gradient_features/parity-plateau", OBSERVATION, "B.3.1, the level is ours",
              "The parity is first answered by the simplest rule of its feature, the sign of "
              "<D, x>: right on all structured inputs, and on uniform ones where the majority of "
              "the block is its parity.",
              f"median test accuracy between steps {EARLY[0]} and {EARLY[1]} minus 2 p_A + (1 - "
              f"2 p_A) Pr[majority = parity] = {level:.4f}, block of {parity['block']}",
              -0.01, 0.01, "One in a hundred: twice what five test sets of 10,000 scatter, and a "
              "third of what a linear classifier or the next simplest rule are off.",
              partial(_plateau, level=level), out_of_reach=reach(learning__sets__test=10000)),
        claim("gradient_features/parity-learned", THEOREM, "Theorem 3.22",
              "Later steps learn the parity, which no simpler rule, linear classifier or head on "
              "random features does.", "test accuracy after the last step minus the best of the "
              "plateau, a linear classifier and random features", 0.15, 0.5,
              "From the plateau to 1 it is .1875; four fifths of that.",
              partial(_left, level=level), out_of_reach=reach(learning__laws__parity__steps=6000)),
        claim("gradient_features/lottery-suffices", THEOREM, "Proposition B.1",
              "Few of the neurons that the first step put into cones, of the order of the "
              "4 sqrt(m p) of Lemma 3.14, learn alone what all learn together.",
              f"final test accuracy of {own['lottery']['tickets']} such neurons minus all, {law}",
              -0.02, 0.02, "The bound is the same for both; two in a hundred.",
              partial(_suffice, law=law), out_of_reach=tickets(), changed=twenty),
        claim("gradient_features/lottery-beats-chance", OBSERVATION, "ours",
              "Neurons that the first step put into cones learn faster than as many drawn by "
              "chance.",
              f"mean test accuracy until step {FIRST}, in cones minus by chance, paired, {law}",
              0.02, 0.5, "Two in a hundred, paired; of neurons by chance a third lie in cones too. "
              "With all that lie in cones and five replicates desk gave .13, undecided.",
              partial(_faster, law=law), out_of_reach=tickets(), changed=twenty),
    )  # fmt: skip
