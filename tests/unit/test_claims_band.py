"""The verdict on a number at the very end of its band."""

from __future__ import annotations

import numpy as np
import pytest

from featlearn.core.claims import FAILS, HOLDS, Claim, judge


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
