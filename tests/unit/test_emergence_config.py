"""Contradictions in the config of chapter 2, and how its frames are read."""

from __future__ import annotations

import copy
from pathlib import Path

import pandas as pd
import pytest

from featlearn.core.config import load
from featlearn.emergence.config import faults
from featlearn.emergence.reading import accuracies

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def section():
    return load({"scale": "desk"}, ROOT)["emergence"]


@pytest.mark.parametrize(
    ("cell", "place", "value", "told"),
    [
        ("parity", "data.relevant", 4, "data.relevant: 4; expected an odd number from 3 on"),
        ("parity", "data.relevant", 101, "data.relevant: 101; expected fewer than the 100"),
        ("parity", "data.background", 0.7, "data.background: 0.7; expected at most 2/3"),
        ("parity", "data.interval", [1, 2], "data.interval: [1, 2]; expected only with kind"),
        ("parity", "dimensions", [500, 99], "dimensions: 99; expected at least the 100 patterns"),
        ("interval", "data.interval", [20, 31], "data.interval: [20, 31]; expected 0 < first"),
        ("interval", "data.interval", [1, 30], "data.interval: [1, 30]; expected counts that are"),
        (
            "interval",
            "data",
            {
                "kind": "interval",
                "patterns": 100,
                "relevant": 30,
                "interval": [10, 20],
                "frequency": 0.5,
            },
            "data.interval: [10, 20]; expected none with its middle at 15: of fair coins",
        ),
        ("interval", "data.negative_share", 0.8, "data.negative_share: 0.8; expected only with"),
        ("hidden", "data.prototypes", 7, "data.prototypes: 7; expected an even number"),
        ("parity", "data.prototypes", 8, "data.prototypes: 8; expected only with kind prototypes"),
        ("negatives-90", "samples.test", 4, "samples.test: 4; expected so many that both labels"),
    ],
)
def test_a_contradiction_names_its_key(section, cell, place, value, told):
    changed = copy.deepcopy(section)
    *groups, key = place.split(".")
    own = changed["curves"][cell]
    for group in groups:
        own = own[group]
    own[key] = value
    assert any(line.startswith(f"emergence.curves.{cell}.{told}") for line in faults(changed))


def test_interval_labels_need_an_interval(section):
    changed = copy.deepcopy(section)
    del changed["curves"]["interval"]["data"]["interval"]
    (line,) = faults(changed)
    assert line.startswith("emergence.curves.interval.data.interval: missing")


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        ("dimension", 99, "dimension: 99; expected at least the 100 patterns"),
        ("noises", [0.0, 0.2], "noises: [0.0, 0.2]; expected 0.1 among them"),
    ],
)
def test_a_contradiction_in_the_general_setting_names_its_key(section, key, value, told):
    changed = copy.deepcopy(section)
    changed["general"][key] = value
    (line,) = faults(changed)
    assert line.startswith(f"emergence.general.{told}")


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        ("relevant", 26, "relevant: 26; expected at most the dimension, 25"),
        ("moments", [30, 51], "moments: [30, 51]; expected none after 50"),
    ],
)
def test_a_contradiction_in_a_mixture_names_its_key(section, key, value, told):
    changed = copy.deepcopy(section)
    changed["mixture"]["settings"]["second"][key] = value
    (line,) = faults(changed)
    assert line.startswith(f"emergence.mixture.settings.second.{told}")


def test_the_tangent_kernel_counts_where_validation_is_best():
    columns = ["cell", "structured", "arm", "quantity", "step", "replicate", "value"]
    rows = [
        ("parity", True, "ntk", quantity, step, replicate, value)
        for replicate, curves in enumerate(
            ({"validation": (0.5, 0.9, 0.8), "test": (0.4, 0.7, 0.95)},
             {"validation": (0.6, 0.5, 0.7), "test": (0.1, 0.2, 0.3)})
        )
        for quantity, values in curves.items()
        for step, value in zip((10, 20, 30), values, strict=True)
    ]  # fmt: skip
    frame = pd.DataFrame(rows, columns=columns)
    assert accuracies(frame, "parity", "ntk", "test").tolist() == [0.7, 0.3]
