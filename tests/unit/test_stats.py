"""Means and t-intervals over replicates."""

import math

import numpy as np
import pytest

from featlearn.core.stats import estimate


def test_the_half_width_is_that_of_the_t_table():
    # 1, 2, 3, 4: mean 2.5, standard deviation sqrt(5/3); t(0.975; 3 degrees) = 3.182446 (tables)
    found = estimate(np.array([1, 2, 3, 4]))
    half_width = 3.182446305 * math.sqrt(5 / 3) / 2
    assert found.mean == 2.5
    assert found.half_width == pytest.approx(half_width, rel=1e-8)
    assert found.low == pytest.approx(2.5 - half_width, rel=1e-8)
    assert found.high == pytest.approx(2.5 + half_width, rel=1e-8)
    assert found.replicates == 4


@pytest.mark.parametrize(
    ("values", "half_width"), [([0.0, 1.0], 12.706204736 / 2), ([0.25] * 5, 0), ([0.7], math.nan)]
)
def test_few_and_equal_replicates(values, half_width):
    found = estimate(np.array(values))
    assert found.half_width == pytest.approx(half_width, rel=1e-8, nan_ok=True)
    assert found.replicates == len(values)


@pytest.mark.parametrize("lost", [math.nan, math.inf, -math.inf])
def test_a_lost_replicate_does_not_vanish(lost):
    with pytest.raises(ValueError, match="finite"):
        estimate(np.array([1.0, lost, 2.0]))


def test_no_replicate_at_all_is_refused():
    with pytest.raises(ValueError, match="got none"):
        estimate(np.array([]))
