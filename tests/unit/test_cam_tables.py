"""Part use and Table 1 from planted measurements."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pandas as pd
import pytest

from featlearn.core.config import read_yaml
from featlearn.core.quoted import quoted_table
from featlearn.mrp.figures.eigencam import ways_to_read
from featlearn.mrp.figures.eigencam_dials import DIAL_QUANTITIES, cam_phase_diagram
from featlearn.mrp.tables.eigencam import part_use, part_use_table
from featlearn.mrp.tables.table_1 import later_version, table_1, wide_table_1

VALUES = read_yaml(Path(__file__).parents[2] / "config" / "paper_values" / "mrp.yaml")


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
    both = ("method", ["supervised", "SimMIM, then labels"])
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


def test_one_replicate_has_means_and_no_spread(frames):
    alone = {name: frame[frame["replicate"] == 0] for name, frame in frames.items()}
    wide = later_version(VALUES, **alone).shown
    assert not wide.astype(str).map(lambda cell: "nan" in cell or "±" in cell).to_numpy().any()
    rows = [("simmim", "cnn", 6, "multi_view", "hits", 1.25, 0),
            ("random-cnn", "cnn", 6, "multi_view", "hits", 1.0, 0)]  # fmt: skip
    columns = ["start", "encoder", "labels", "test_set", "quantity", "value", "replicate"]
    wide = part_use(pd.DataFrame(rows, columns=columns)).shown
    assert wide["parts hit a picture"].tolist() == ["1.25", "1"]


def test_the_sweep_of_readings_shows_a_row_a_network_and_a_column_a_layer():
    rows = [
        (start, kind, layer, centred, share, level + 0.1 * replicate, replicate)
        for start, kind, level, layers in (("random-cnn", "cnn", 1.0, 3), ("simmim", "cnn", 1.5, 3),
                                           ("random-vit", "vit", 0.2, 2), ("mae", "vit", 0.1, 2))
        for layer in range(1 - layers, 1)
        for centred in (True, False)
        for share in (0.25, 0.5)
        for replicate in range(2)
    ]  # fmt: skip
    columns = ["start", "encoder", "layer", "centred", "hit_share", "value", "replicate"]
    drawn = ways_to_read(pd.DataFrame(rows, columns=columns))
    # no empty panel: a network has as many as it has layers, and each panel its tick labels
    titles = [ax.get_title(loc="left") for ax in drawn.axes]
    assert titles == ["2 before the last", *["1 before the last", "last layer"] * 2]
    for ax in drawn.axes:
        assert [tick.get_text() for tick in ax.get_xticklabels()] == ["0.25", "0.5"]
    gain = drawn.axes[2].containers[0].lines[0].get_ydata()
    assert gain == pytest.approx([0.5, 0.5])


def test_the_sweep_of_dials_shows_a_row_a_setting_and_a_column_a_quantity():
    rows = [
        (dial, position, method, 60, quantity, level, 0)
        for dial, positions in (("rotation", (30,)), ("mask_size", (4, 16)))
        for position in positions
        for method, level in (("supervised", 0.25), ("SimMIM, fine-tuned", 0.75))
        for quantity in DIAL_QUANTITIES
    ]
    columns = ["dial", "position", "method", "labels", "quantity", "value", "replicate"]
    drawn = cam_phase_diagram(pd.DataFrame(rows, columns=columns))
    assert len(drawn.axes) == len(DIAL_QUANTITIES)
    names = [tick.get_text() for tick in drawn.axes[0].get_yticklabels()]
    assert names == [
        "largest turn of a part (°): 30  (0.25)",
        "side of a mask cell (px): 4  (0.25)",
        "side of a mask cell (px): 16  (0.25)",
    ]
    for ax in drawn.axes:
        points = ax.containers[0].lines[0]
        assert points.get_xdata() == pytest.approx([0.5] * 3)
        assert points.get_ydata() == pytest.approx([0, 1, 2])
