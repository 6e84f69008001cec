"""What Figure 5 says: pictures of channels are more varied with a prediction head."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from featlearn.core.claims import Claim, Measure, OutOfReach
from featlearn.core.rows import per_replicate
from featlearn.noncontrastive.claims.images import too_small
from featlearn.noncontrastive.images.cells import UNTRAINED, WITH, WITHOUT

VALUES = "noncontrastive/measurements/robust/values.parquet"


def _too_small(name: str) -> OutOfReach:
    def reason(sets: Mapping[str, Any]) -> str | None:
        return too_small(sets[name]["replicates"], sets[name]["robust"]["training"])

    return reason


def _difference(name: str, arms: tuple[str, str], quantity: str) -> Measure:
    """First minus second: a replicate has the same images and start for both."""

    def measure(frames: Mapping[str, Any]) -> np.ndarray:
        first, second = (
            per_replicate(frames["values"], data_set=name, run=arm, quantity=quantity)
            for arm in arms
        )
        return first - second

    return measure


def claims(sets: Mapping[str, Any]) -> list[Claim]:
    """Of the data sets that Figure 5 is made of, groups of ``noncontrastive.images``."""
    return [claim for name in sets for claim in _of(name)]


def _of(name: str) -> list[Claim]:
    start = f"noncontrastive/robust-{name.replace('_', '-')}"
    common: dict[str, Any] = {"artefact": VALUES, "out_of_reach": _too_small(name)}
    return [
        Claim(
            f"{start}-more-varied",
            source="Figure 5",
            statement="What channels respond to is more varied with a head than without.",
            quantity="likeness of two pictures: without a head minus with one",
            low=0.05,
            high=1.0,
            reason="Visibly more varied: a twentieth of the whole range.",
            measure=_difference(name, (WITHOUT, WITH), "likeness"),
            **common,
        ),
        Claim(
            f"{start}-attack-met",
            source="Figure 5 (implied)",
            statement="The adversarial training makes features steadier under its attack.",
            quantity="cosine of features under attack: with a head minus untrained",
            low=0.02,
            high=1.0,
            reason="Else it is no robust network that is looked at. Features of a random start can "
            "be steady, too, as they hardly tell images apart: a small gain is enough.",
            measure=_difference(name, (WITH, UNTRAINED), "steadiness"),
            **common,
        ),
        Claim(
            f"{start}-training-helps",
            source="Figure 5 (implied)",
            statement="What is learned with the head is better than the random start.",
            quantity="accuracy of the linear probe: with a head minus untrained",
            low=0.02,
            high=1.0,
            reason="Else the pictures are of features that serve nothing.",
            measure=_difference(name, (WITH, UNTRAINED), "accuracy"),
            **common,
        ),
    ]
