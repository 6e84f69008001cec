"""Values of an mrp config that contradict each other."""

from __future__ import annotations

import pytest

from featlearn.mrp.config import faults


def settings(data=None, pretraining=None) -> dict:
    return {
        "headline": {
            "data": {
                "classes": 4,
                "features_per_class": 2,
                "patches_per_feature": 2,
                "patches": 16,
                "dimension": 8,
                "sparsity": 4,
                "main_strength": [1.0, 1.0],
                "off_strength": [0.2, 0.4],
                **(data or {}),
            },
            "pretraining": {"max_steps": 20, "record_every": 20, **(pretraining or {})},
        }
    }


def test_values_at_the_edge_of_what_is_possible_are_valid():
    assert list(faults(settings())) == []


@pytest.mark.parametrize(
    ("data", "start", "reason"),
    [
        ({"patches": 15}, "mrp.headline.data.patches: 15; expected at least", "= 16"),
        ({"dimension": 7}, "mrp.headline.data.dimension: 7; expected at least 8", "orthonormal"),
        ({"sparsity": 4.1}, "mrp.headline.data.sparsity: 4.1; expected at most", "(4)"),
        (
            {"main_strength": [1.5, 1.0]},
            "mrp.headline.data.main_strength: [1.5, 1.0]; expected",
            "lower end first",
        ),
        (
            {"off_strength": [0.4, 0.2]},
            "mrp.headline.data.off_strength: [0.4, 0.2]; expected",
            "lower end first",
        ),
    ],
)
def test_an_impossible_distribution_is_refused_by_key(data, start, reason):
    (line,) = faults(settings(data))
    assert line.startswith(start)
    assert reason in line


def test_a_history_that_would_record_nothing_is_refused_by_key():
    (line,) = faults(settings(pretraining={"record_every": 21}))
    assert line.startswith("mrp.headline.pretraining.record_every: 21; expected at most max_steps")


def test_all_contradictions_are_told_at_once():
    lines = list(faults(settings({"patches": 1, "dimension": 1}, {"max_steps": 3})))
    assert len(lines) == 3
