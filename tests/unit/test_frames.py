"""Rows by their values, and tensors with named axes as rows."""

import pandas as pd
import pytest
import torch

from featlearn.core.frames import pick, tidy

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
