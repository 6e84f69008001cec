"""Means and t-intervals over replicates."""

import math

import numpy as np
import pandas as pd
import pytest

from featlearn.core.stats import estimate, paired, summary


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


@pytest.mark.parametrize("values", [[1, math.nan], [math.inf, 2], [-math.inf, 2], []])
def test_a_lost_replicate_or_none_at_all_is_refused(values):
    with pytest.raises(ValueError, match="finite" if values else "got none"):
        estimate(np.array(values))


BY = ["labels", "quantity"]


def rows() -> pd.DataFrame:
    return pd.DataFrame(
        [
            {"labels": 64, "method": method, "replicate": r, "quantity": "all", "value": value}
            for method, values in {"a": [0.9, 0.8, 0.7], "b": [0.8, 0.6, 0.65]}.items()
            for r, value in enumerate(values)
        ]
    )


def test_a_summary_has_the_interval_over_replicates():
    table = summary(rows(), by=["labels", "method", "quantity"]).set_index("method")
    assert table.loc["a", "mean"] == pytest.approx(0.8)
    # standard error 0.1 / sqrt 3, and 4.3027 is the 0.975 quantile of t with 2 degrees of freedom
    assert table.loc["a", "half_width"] == pytest.approx(4.3027 * 0.1 / math.sqrt(3), rel=1e-4)
    assert table.loc["a", "replicates"] == 3


def test_differences_are_paired_by_replicate():
    table = paired(rows().sample(frac=1, random_state=1), BY, "method", {"a": "b"})
    assert table[[*BY, "method"]].to_numpy().tolist() == [[64, "all", "a"]]
    differences = np.array([0.1, 0.2, 0.05])
    assert table["difference"].item() == pytest.approx(differences.mean())
    error = differences.std(ddof=1) / math.sqrt(3)
    assert table["difference_half_width"].item() == pytest.approx(4.3027 * error, rel=1e-4)


def test_a_replicate_without_its_pair_is_refused_and_a_method_without_one_left_out():
    broken = rows().drop(index=4)
    with pytest.raises(ValueError, match="expected finite numbers"):
        paired(broken, BY, "method", {"a": "b"})
    with pytest.raises(ValueError, match="duplicate"):
        paired(pd.concat([rows(), rows()]), BY, "method", {"a": "b"})
    assert paired(rows(), BY, "method", {"a": "c"}).empty
