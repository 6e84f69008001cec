"""What must hold of adapters on frozen encoders."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from featlearn.core.claims import (
    CONTROL,
    DIFFERENCE_OF_SHARES,
    SHARE,
    THEOREM,
    Claim,
    Measure,
    needs,
)
from featlearn.universality.claims.ladders import TWENTY
from featlearn.universality.printed import OURS
from featlearn.universality.words import FT, LP

Frames = Mapping[str, pd.DataFrame]
FOLDER = "universality/measurements/foundation"


def claims(config: Mapping[str, Any]) -> tuple[Claim, ...]:
    """At the copies of the config; bands do not depend on it."""
    own = config.get("foundation", config)
    copies = own["copies"][min(1, len(own["copies"]) - 1)]

    def cells(frames: Frames, method: str) -> pd.DataFrame:
        frame = frames["adapters"]
        frame = frame[(frame["method"] == method)
                      & (frame["copies"] == (1 if method == LP else copies))]  # fmt: skip
        return frame.pivot_table(index="replicate", columns=["model", "target", "percent"],
                                 values="value")  # fmt: skip

    def gain(first: str, second: str, percent: int | None) -> Measure:
        def of(frames: Frames) -> np.ndarray:
            each = cells(frames, first) - cells(frames, second)
            if percent is not None:
                each = each.loc[:, each.columns.get_level_values("percent") == percent]
            return each.mean(axis=1).to_numpy()

        return of

    def trained(frames: Frames) -> np.ndarray:
        frame = frames["adapters"]
        few = frame[(frame["method"] == FT) & (frame["percent"] <= 10)]
        return few.groupby("replicate")["training"].mean().to_numpy()

    claim = partial(
        Claim, artefact=f"{FOLDER}/adapters.parquet", possible=DIFFERENCE_OF_SHARES,
        changed=TWENTY,
        out_of_reach=needs(foundation__steps=300, ladders__replicates=5, ladders__steps=400),
    )  # fmt: skip
    everywhere = "mean over encoders and targets"
    return (
        claim("universality/adapter-beats-probe", THEOREM, "Table 7.2", low=0, high=1,
              statement="With all labels an adapter on a frozen encoder beats a probe.",
              quantity=f"FT with ten copies less LP, {everywhere}",
              reason="The thesis has .4 to 15 points. Not piloted.", measure=gain(FT, LP, 100)),
        claim("universality/adapter-with-contrast", THEOREM, "Tables 7.2, F.6, F.7", low=0, high=1,
              statement="A contrastive loss at an adapter's output helps.",
              quantity=f"Ours less FT with ten copies, {everywhere} and shares of the labels",
              reason="The thesis has .3 to 5 points. Not piloted.", measure=gain(OURS, FT, None)),
        claim("universality/adapters-trained", CONTROL, "ours", low=0.95, high=1, possible=SHARE,
              statement="Adapters have learned up to a tenth of the labels.",
              quantity="training accuracy of FT, mean over encoders, targets and copies",
              reason="What has not learned its labels cannot be compared.", measure=trained),
    )  # fmt: skip
