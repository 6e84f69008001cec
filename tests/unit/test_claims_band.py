"""What a claim reads off a frame, and the verdict on a number at the very end of its band."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from featlearn.core.claims import FAILS, HOLDS, Claim, judge
from featlearn.core.stats import per_replicate


def claim(low, high):
    return Claim(
        "mrp/x", source="", statement="", quantity="", low=low, high=high, reason="",
        measure=lambda _: np.ones(1), artefact="",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("measured", "verdict"),
    [
        (float(np.mean([0.95] + [1.0] * 9)), HOLDS),  # 199 of 200; rounds to just below 0.995
        (0.995, HOLDS),
        (1.0, HOLDS),
        (0.9949, FAILS),
        (0.995 - 1e-9, FAILS),
        (1 + 1e-9, FAILS),
    ],
)
def test_both_ends_of_a_band_belong_to_it_whatever_the_rounding(measured, verdict):
    assert judge(measured, claim(0.995, 1.0), {}) == verdict


def test_one_number_a_replicate_is_read_or_refused():
    frame = pd.DataFrame(
        {
            "replicate": [1, 0, 0, 1],
            "theta": [0.1 + 0.2, 0.3, 0.8, 0.8],
            "bound": [np.nan, np.nan, 1.0, 1.0],
            "model": ["a", "a", "b", "b"],
            "value": [3, 2, 5, 7],
        }
    )
    assert per_replicate(frame, theta=0.3).tolist() == [2, 3]
    assert per_replicate(frame, model="b", theta=0.8).tolist() == [5, 7]
    assert per_replicate(frame, bound=None).tolist() == [2, 3]
    with pytest.raises(KeyError, match="no row with"):
        per_replicate(frame, theta=0.5)
    with pytest.raises(ValueError, match="several rows a replicate"):
        per_replicate(frame)
