"""Intervals that an accuracy on a few test images can have."""

from __future__ import annotations

import numpy as np
import pandas as pd

from featlearn.core.seeds import derive_seed
from featlearn.core.stats import estimate_share

#: Below so many test images a report begins with a warning.
FEW = 100
#: Draws of a bootstrap, and how many at a time.
DRAWS, AT_ONCE = 2000, 100


def wilson(share: float, images: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share of test images.

    It tells how far the accuracy on other images of the same kind may lie from this one. Replicates
    share their test images, so that they do not make the interval narrower; where their mean is no
    whole number of images, it lies between those of the whole numbers next to it.
    """
    right = min(max(share * images, 0.0), float(images))
    below = min(int(right + 1e-9), images)
    ends = [
        estimate_share((np.arange(images) < count).astype(float))
        for count in (below, min(below + 1, images))
    ]
    part = max(right - below, 0.0)
    low, high = (
        (1 - part) * first + part * second
        for first, second in zip(*((one.low, one.high) for one in ends), strict=True)
    )
    return low, high


def difference(ours: np.ndarray, theirs: np.ndarray) -> tuple[float, float, float]:
    """Mean difference of two networks' accuracies, with a bootstrap interval of 95 %.

    Test images and replicates are drawn anew with replacement, the same for both networks. With few
    replicates, or images on which the two differ, the interval is rather too narrow than too wide.

    Parameters
    ----------
    ours, theirs
        1 where the network of a replicate was right on a test image, (R, N); replicates in pairs.

    Returns
    -------
    mean, low, high : float
    """
    apart = ours.astype(np.int64) - theirs.astype(np.int64)
    replicates, images = apart.shape
    random = np.random.default_rng(derive_seed("own", "difference", replicates, images))
    even = [np.full(count, 1 / count) for count in apart.shape]
    found = []
    for _ in range(0, DRAWS, AT_ONCE):
        # counts are whole numbers: the sums are exact, whatever their order
        by_image = random.multinomial(images, even[1], AT_ONCE) @ apart.T
        by_replicate = random.multinomial(replicates, even[0], AT_ONCE)
        found.append((by_image * by_replicate).sum(1))
    low, high = np.quantile(np.concatenate(found) / apart.size, (0.025, 0.975))
    return float(apart.sum() / apart.size), float(low), float(high)


def right_or_not(predictions: pd.DataFrame) -> np.ndarray:
    """1 where a test image (column) was given its class in a replicate (row), else 0: (R, N)."""
    wide = predictions.assign(right=predictions["label"] == predictions["said"]).pivot(  # noqa: PD010
        index="replicate", columns="image", values="right"
    )
    return wide.to_numpy(dtype=np.int64)
