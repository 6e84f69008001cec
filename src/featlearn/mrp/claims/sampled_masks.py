"""Sampled masks estimate the exact gradient (equation (2); trap of small theta)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from featlearn.core.claims import CONTROL, OBSERVATION, POSITIVE, Claim, needs

ERRORS = "mrp/measurements/sampled-masks/errors.parquet"
REACH = needs(sampled_masks__data__classes=5, sampled_masks__replicates=10, sampled_masks__masks=64)


def _slope(frames: Mapping[str, pd.DataFrame]) -> np.ndarray:
    """Slope of log error over log number of masks, mean over thetas, for each replicate."""
    frame = frames["errors"]
    slopes = [
        (replicate, np.polyfit(np.log(own["masks"]), np.log(own["error"]), 1)[0])
        for (replicate, _), own in frame.groupby(["replicate", "theta"])
    ]
    table = pd.DataFrame(slopes, columns=["replicate", "slope"])
    return table.groupby("replicate")["slope"].mean().to_numpy()


def _few_kept_against_many(frames: Mapping[str, pd.DataFrame]) -> np.ndarray:
    """Error at the smallest theta over that at the largest, geometric mean over masks."""
    frame = frames["errors"].assign(log=np.log(frames["errors"]["error"]))
    means = frame.groupby(["theta", "replicate"])["log"].mean()
    thetas = frame["theta"]
    return np.exp(means[thetas.min()].to_numpy() - means[thetas.max()].to_numpy())


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "mrp/t1-sampled-masks-rate",
        CONTROL,
        source="Equation (2): the gradient is the expectation over masks",
        statement="The mean over sampled masks tends to the exact gradient, at the rate of a mean.",
        quantity="slope of log error over log number of masks",
        low=-0.55,
        high=-0.45,
        reason="Independent masks and no bias: -1/2; each slope is fitted to few points.",
        measure=_slope,
        artefact=ERRORS,
        out_of_reach=REACH,
    ),
    Claim(
        "mrp/t1-sampled-masks-small-theta",
        OBSERVATION,
        source="Control (ours): the variance of a mask is (1 - theta) / theta",
        statement="Sampling hurts most when few patches are kept: exactness matters there.",
        quantity="error at the smallest theta over the error at the largest",
        low=2.0,
        high=20.0,
        possible=POSITIVE,
        reason="sqrt((1-theta)/theta) alone gives 4 for 0.2 against 0.8; the teacher factor, which "
        "grows as theta falls, changes the exact gradient as well: a factor of 2 to 5 either way.",
        measure=_few_kept_against_many,
        artefact=ERRORS,
        out_of_reach=REACH,
    ),
)
