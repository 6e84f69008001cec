"""What Figure 5 says: pictures of channels are more varied with a prediction head."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from featlearn.core.claims import (
    CONTROL,
    DIFFERENCE_OF_SHARES,
    OBSERVATION,
    SHARE,
    Claim,
    Measure,
    OutOfReach,
)
from featlearn.noncontrastive.claims.images import pair, too_small
from featlearn.noncontrastive.images.cells import UNTRAINED, WITH, WITHOUT

VALUES = "noncontrastive/measurements/robust/values.parquet"


def _too_small(name: str) -> OutOfReach:
    def reason(sets: Mapping[str, Any]) -> str | None:
        return too_small(sets[name]["replicates"], sets[name]["robust"]["training"])

    return reason


def _varied_and_learned(name: str) -> Measure:
    """1 or 0 a replicate."""
    varied = pair(name, (WITHOUT, WITH), "likeness")
    learned = pair(name, (WITH, UNTRAINED), "accuracy")
    return lambda frames: ((varied(frames) >= 0.05) & (learned(frames) >= 0.02)).astype(float)


def claims(sets: Mapping[str, Any]) -> list[Claim]:
    """Of the data sets that Figure 5 is made of, groups of ``noncontrastive.images``."""
    return [claim for name in sets for claim in _of(name)]


def _of(name: str) -> list[Claim]:
    start = f"noncontrastive/robust-{name.replace('_', '-')}"
    claim = partial(Claim, artefact=VALUES, out_of_reach=_too_small(name),
                    possible=DIFFERENCE_OF_SHARES)  # fmt: skip
    return [
        claim(f"{start}-more-varied", OBSERVATION,
              "Figure 5", "What channels respond to is more varied with a head than without, in "
              "a network that has learned something.", "share of replicates in which two pictures "
              "are less alike by 0.05 with a head, and whose probe beats the untrained one by 0.02",
              0.5, 1.0, "In most networks. Both are asked for, as the random start, which has "
              "learned nothing, is the most varied of all.", _varied_and_learned(name),
              possible=SHARE, statistic="share",
              changed="An earlier form asked for the pictures alone."),
        claim(f"{start}-attack-met", CONTROL,
              "Figure 5 (implied)", "The adversarial training makes "
              "features steadier under its attack.", "cosine of features under attack: with a head "
              "minus untrained", 0.02, 1.0, "Else it is no robust network that is looked at. "
              "Features of a random start can be steady, too, as they hardly tell images apart: a "
              "small gain is enough.", pair(name, (WITH, UNTRAINED), "steadiness")),
        claim(f"{start}-training-helps", CONTROL,
              "Figure 5 (implied)", "What is learned with the head is "
              "better than the random start.", "accuracy of the linear probe: with a head minus "
              "untrained", 0.02, 1.0, "Else the pictures are of features that serve nothing.",
              pair(name, (WITH, UNTRAINED), "accuracy")),
    ]  # fmt: skip
