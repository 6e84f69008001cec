"""Values of an mrp config that contradict each other."""

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


def test_all_contradictions_are_told_at_once():
    lines = list(faults(settings({"patches": 1, "dimension": 1}, {"max_steps": 3})))
    assert len(lines) == 3
