"""What the paper says must hold, each with a band fixed before it was measured."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from featlearn.core.claims import POSITIVE, THEOREM, Claim, needs_replicates


def _ratio(frames: Mapping[str, pd.DataFrame]) -> np.ndarray:
    """Measured over predicted cosine, the mean over all numbers of views of a replicate."""
    frame = frames["alignment"]
    ratios = (frame["value"] / frame["predicted"]).groupby(frame["replicate"]).mean()
    return ratios.to_numpy()


CLAIMS = (
    Claim(
        "toy/closed-form",
        THEOREM,
        source="Lemma 1",
        statement="The sum of n views has the cosine 1 / sqrt(1 + noise^2 d / n) with the feature.",
        quantity="measured over predicted cosine, mean over the numbers of views",
        low=0.9,
        high=1.1,
        reason="Fluctuations of a cosine are of order 1 / sqrt(d): a tenth at d = 100.",
        measure=_ratio,
        artefact="toy/measurements/averaging.parquet",
        out_of_reach=needs_replicates("averaging"),
        possible=POSITIVE,
    ),
)
