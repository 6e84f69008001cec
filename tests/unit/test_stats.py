"""Means and t-intervals over replicates, and frames."""

import math

import numpy as np
import pandas as pd
import pytest
import torch

from featlearn.core.evidence.frames import pick, rows, tidy
from featlearn.core.evidence.stats import estimate, paired, summary


@pytest.mark.parametrize(("values", "mean", "half_width"), [
    # mean 2.5, standard deviation sqrt(5/3); t(0.975; 3 degrees) = 3.182446 (tables)
    ([1, 2, 3, 4], 2.5, 3.182446305 * math.sqrt(5 / 3) / 2),
    ([0.0, 1.0], 0.5, 12.706204736 / 2),
    ([0.25] * 5, 0.25, 0),
    ([0.7], 0.7, math.nan),
])  # fmt: skip
def test_the_half_width_is_that_of_the_t_table(values, mean, half_width):
    found = estimate(np.array(values))
    ends = (mean - half_width, mean, mean + half_width)
    assert (found.low, found.mean, found.high) == pytest.approx(ends, rel=1e-8, nan_ok=True)
    assert found.half_width == pytest.approx(half_width, rel=1e-8, nan_ok=True)
    assert found.replicates == len(values)


@pytest.mark.parametrize("values", [[1, math.nan], [math.inf, 2], [-math.inf, 2], []])
def test_a_lost_replicate_or_none_at_all_is_refused(values):
    with pytest.raises(ValueError, match="finite" if values else "got none"):
        estimate(np.array(values))


BY = ["labels", "quantity"]


ROWS = tidy(
    {"labels": [64], "method": ["a", "b"], "quantity": ["all"], "replicate": range(3)},
    value=np.array([[0.9, 0.8, 0.7], [0.8, 0.6, 0.65]])[:, None],
)


def test_a_summary_has_the_interval_over_replicates():
    table = summary(ROWS, by=["labels", "method", "quantity"]).set_index("method")
    assert table.loc["a", "mean"] == pytest.approx(0.8)
    # standard error 0.1 / sqrt 3, and 4.3027 is the 0.975 quantile of t with 2 degrees of freedom
    assert table.loc["a", "half_width"] == pytest.approx(4.3027 * 0.1 / math.sqrt(3), rel=1e-4)
    assert table.loc["a", "replicates"] == 3


def test_differences_are_paired_by_replicate():
    table = paired(ROWS.sample(frac=1, random_state=1), BY, "method", {"a": "b"})
    assert table[[*BY, "method"]].to_numpy().tolist() == [[64, "all", "a"]]
    differences = np.array([0.1, 0.2, 0.05])
    assert table["difference"].item() == pytest.approx(differences.mean())
    error = differences.std(ddof=1) / math.sqrt(3)
    assert table["difference_half_width"].item() == pytest.approx(4.3027 * error, rel=1e-4)


def test_a_replicate_without_its_pair_is_refused_and_a_method_without_one_left_out():
    broken = ROWS.drop(index=4)
    with pytest.raises(ValueError, match="expected finite numbers"):
        paired(broken, BY, "method", {"a": "b"})
    with pytest.raises(ValueError, match="duplicate"):
        paired(pd.concat([ROWS, ROWS]), BY, "method", {"a": "b"})
    assert paired(ROWS, BY, "method", {"a": "c"}).empty


FRAME = pd.DataFrame(
    {"arm": ["a", "b", "c", None], "rate": [0.1 + 0.2, 0.3, 0.4, 0.3], "n": range(4)}
)


@pytest.mark.parametrize(("where", "rows"), [
    ({}, [0, 1, 2, 3]),
    ({"arm": "b"}, [1]),
    ({"rate": 0.3}, [0, 1, 3]),
    ({"rate": 0.3, "arm": None}, [3]),
    ({"arm": ["c", "a"]}, [0, 2]),
    ({"n": (3, 1)}, [1, 3]),
])  # fmt: skip
def test_rows_have_the_values_asked_for_and_keep_their_order(where, rows):
    assert pick(FRAME, **where)["n"].tolist() == rows


@pytest.mark.parametrize("where", [{"arm": "d"}, {"arm": "a", "n": 1}, {"amr": "a"}])
def test_no_such_row_or_column_is_a_fault(where):
    with pytest.raises(KeyError):
        pick(FRAME, **where)


def test_tensors_become_a_row_a_point_of_their_axes():
    found = tidy(
        {"arm": ["a", "b"], "step": [1, 5, 9]},
        value=torch.arange(6, dtype=torch.float32).view(2, 3).requires_grad_(),
        count=torch.tensor([[1], [2]]),
        rate=0.5,
        done=[True, False, True],
    )
    assert found.to_dict("list") == {
        "arm": ["a", "a", "a", "b", "b", "b"], "step": [1, 5, 9, 1, 5, 9],
        "value": [0.0, 1.0, 2.0, 3.0, 4.0, 5.0], "count": [1, 1, 1, 2, 2, 2], "rate": [0.5] * 6,
        "done": [True, False, True] * 2,
    }  # fmt: skip
    kinds = {name: str(kind) for name, kind in found.dtypes.items()}
    assert (kinds["value"], kinds["count"], kinds["done"]) == ("float64", "int64", "bool")
    with pytest.raises(ValueError, match="broadcast"):
        tidy({"arm": ["a", "b"]}, value=[1, 2, 3])


def test_tensors_become_a_row_a_replicate():
    columns = {"value": torch.tensor([0.5, 1.0]), "right": torch.tensor([True, False])}
    assert [*rows(columns, (4, 7), arm="a")] == [
        {"arm": "a", "replicate": 4, "value": 0.5, "right": True},
        {"arm": "a", "replicate": 7, "value": 1.0, "right": False},
    ]
    assert [row["replicate"] for row in rows(columns)] == [0, 1]
    with pytest.raises(ValueError, match="zip"):
        [*rows(columns, range(3))]
