"""What must hold of pools of samples."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from featlearn.core.claims import DIFFERENCE_OF_SHARES, THEOREM, Claim, Measure, needs
from featlearn.core.stats import per_replicate
from featlearn.universality.claims.ladders import TWENTY

Frames = Mapping[str, pd.DataFrame]


def claims(config: Mapping[str, Any]) -> tuple[Claim, ...]:
    """At the sizes of the config; bands do not depend on it."""
    own = config.get("related", config)
    kinds = sorted(own["kinds"])

    def accuracy(frames: Frames, pool: str, place: float, few: bool) -> np.ndarray:
        frame = frames["pooled"]
        labels = sorted(frame.loc[frame["task"] == 0, "labels"].unique())[1 if few else -1]
        return per_replicate(frame, method="moco", pool=pool, place=place, task=0, labels=labels)

    def most(frames: Frames) -> float:
        return float(frames["pooled"]["place"].max())

    def less(
        first: tuple[str, float | None], second: tuple[str, float | None], few: bool
    ) -> Measure:
        def of(frames: Frames) -> np.ndarray:
            one, two = (
                accuracy(frames, pool, most(frames) if place is None else place, few)
                for pool, place in (first, second)
            )
            return one - two

        return of

    claim = partial(
        Claim, artefact="universality/measurements/related/pooled.parquet",
        possible=DIFFERENCE_OF_SHARES, changed=TWENTY,
        out_of_reach=needs(related__steps=400, ladders__replicates=5, ladders__mixtures=8),
    )  # fmt: skip
    return (
        claim("universality/classes-at-fixed-samples", THEOREM, "Figure F.5", low=-1, high=0,
              statement="At a fixed number of samples the accuracy on the target falls with the "
              "number of tasks.",
              quantity="accuracy with the most other tasks less that with the fewest, all labels",
              reason="The thesis; its linear theory has weights of 1 / T. Not piloted.",
              measure=less(("kinds", kinds[-1]), ("kinds", kinds[0]), few=False)),
        claim("universality/specific-wins-few", THEOREM, "Tables F.2 and F.3", low=0, high=1,
              statement="With few labels the specific representation beats the universal one.",
              quantity="accuracy after the target alone less that after all, 5 % of the labels",
              reason="The thesis has 1.8 to 17 points at 500 and 1000 labels. Not piloted.",
              measure=less(("related 100 %", 1), ("related 100 %", None), few=True)),
        claim("universality/tenth-is-worst", THEOREM, "Tables F.2 and F.3", low=0, high=1,
              statement="A tenth of the universal samples is worse than all of them.",
              quantity="accuracy after all samples less that after a tenth, 5 % of the labels",
              reason="The thesis has 20 to 40 points. Not piloted.",
              measure=less(("related 100 %", None), ("tenth", None), few=True)),
    )  # fmt: skip
