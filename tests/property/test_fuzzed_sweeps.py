"""Any key with any values is a sweep or refused in words, and no name leaves its folder."""

from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from featlearn.command.sweep import value_in
from featlearn.core import points, sweeps
from featlearn.core.config import load
from featlearn.core.errors import FeatlearnError

pytestmark = pytest.mark.long

ROOT = Path(__file__).resolve().parents[2]
BASE = load({"scale": "smoke", "papers": ["mrp", "icl"]}, ROOT)
KEYS = st.one_of(
    st.sampled_from([one for one in points.keys(BASE) if one.split(".")[0] in ("mrp", "icl")]),
    st.text(max_size=20),
    st.sampled_from(["mrp", "seed", "mrp.headline.data.gamma", "icl.regression.sigmas.1", "mrp.."]),
)
LEAVES = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8),
    st.sampled_from(["1e-3", "nan", "2024-01-01", "!!set {a}", "{a: b}", "[", "\0", "../x"]),
)  # fmt: skip
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=3), max_leaves=4)
GIVEN = st.one_of(
    st.lists(VALUES, max_size=4),
    st.fixed_dictionaries({"from": LEAVES, "to": LEAVES, "points": st.integers(-1, 5)}),
)


@settings(max_examples=60)
@given(st.dictionaries(KEYS, GIVEN, max_size=3))
@example({"mrp.headline.data.gamma": [0.01, 0.1]})
@example({"icl.regression.sigmas.1": {"from": 1, "to": 3, "points": 3, "scale": "log"}})
def test_a_sweep_is_planned_or_refused(keys):
    try:
        filled = load({"scale": "smoke", "papers": ["mrp", "icl"], "sweep": {"keys": keys}}, ROOT)
        found = sweeps.read(filled, ROOT)
    except FeatlearnError:
        return
    names = [one.slug for one in found.points]
    assert len(set(names)) == len(names)
    for name in [*names, found.name]:
        assert Path("a", name).resolve().parent == Path("a").resolve()


@settings(max_examples=200)
@given(st.text(max_size=12))
@example("1e400")
@example("!!python/name:os.system")
def test_a_value_on_the_command_line_is_read_or_refused(text):
    try:
        value = value_in(text)
    except FeatlearnError:
        return
    points.slug({"a": value})


@pytest.mark.parametrize(("text", "value"), [("1e-3", 1e-3), ("[1, 2]", [1, 2]), ("x", "x")])
def test_values_are_what_they_look_like(text, value):
    assert value_in(text) == value
