"""Part use and Table 1 from planted measurements."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pandas as pd
import pytest

from featlearn.core.quoted import quoted_table
from featlearn.mrp.images.cam_tables import part_use_table, table_1, wide_table_1

VALUES = Path(__file__).parents[2] / "config" / "paper_values" / "mrp.yaml"


def planted(columns, model, gain):
    """Each replicate has a level of its own; the pre-trained model is better by ``gain``."""
    rows = [
        (*where, name, 0.5 + 0.1 * replicate + (gain if better else 0), replicate)
        for where in product(*columns.values())
        for better, name in enumerate(model[1])
        for replicate in range(3)
    ]
    return pd.DataFrame(rows, columns=[*columns, model[0], "value", "replicate"])


@pytest.fixture
def frames():
    quantities = ["multi_view", "single_view"]
    comparison = {
        "evaluation": ["fine-tuned", "linear probe"],
        "labels": [6, 12],
        "quantity": quantities,
    }
    both = ("method", ["supervised", "SimMIM"])
    return {
        "comparison": planted(comparison, ("start", ["random-cnn", "simmim"]), 0.02),
        "transfer": planted({"classes": ["mixed", "new"], "quantity": quantities}, both, 0.03),
        "detection": planted({"quantity": ["ap50", "ap75"]}, both, -0.01),
    }


def test_table_1_puts_what_was_measured_beside_each_number_of_the_paper(frames):
    quoted, _ = quoted_table(VALUES, "table-1")
    table = table_1(quoted, frames)
    assert set(table["paper_value"]) == set(quoted["paper_value"])
    gains = table[table["model"] == "mask reconstruction"].set_index("measured_on")
    assert gains["gain"].to_dict() == pytest.approx(
        {
            "multi-view pictures": 2,
            "single-view pictures": 2,
            "scenes of objects": -1,
            "new classes, multi-view": 3,
            "new classes, single-view": 3,
        }
    )
    # what is common to a replicate cancels in the paired gain only
    assert (gains["gain_half_width"] < 1e-9).all()
    assert (gains["half_width"] > 1).all()
    assert table[table["model"] == "supervised"]["gain"].isna().all()
    wide = wide_table_1(table)
    assert wide["gain: paper_value"].tolist() == [1.8, 1.8, 4.4, 3.6, 3.6]
    first, _ = quoted_table(VALUES, "table-1-first-version")
    assert set(table_1(first, frames)["task"]) == {"ImageNet classification"}


def test_part_use_is_compared_with_supervised_training_of_the_same_network():
    rows = [
        (start, start[-3:] if start.startswith("random") else kind, 6, "multi_view", "hits",
         level + 0.1 * replicate, replicate)
        for start, kind, level in (("random-cnn", "cnn", 1.0), ("simmim", "cnn", 1.5),
                                   ("random-vit", "vit", 0.2), ("mae", "vit", 0.1))
        for replicate in range(3)
    ]  # fmt: skip
    columns = ["start", "encoder", "labels", "test_set", "quantity", "value", "replicate"]
    table = part_use_table(pd.DataFrame(rows, columns=columns)).set_index("start")
    assert table["difference"].dropna().to_dict() == pytest.approx({"simmim": 0.5, "mae": -0.1})
    assert table["mean"].to_dict() == pytest.approx(
        {"random-cnn": 1.1, "simmim": 1.6, "random-vit": 0.3, "mae": 0.2}
    )
