"""Seeds, config, estimates and files for arbitrary content."""

import copy

import numpy as np
import pandas as pd
from hypothesis import example, given
from hypothesis import strategies as st

from featlearn.core import files
from featlearn.core.run.config import in_order, merge
from featlearn.core.seeds import derive_seed

WORDS = st.text(min_size=1, max_size=8).filter(lambda text: "/" not in text)
# text that UTF-8 cannot hold (lone surrogates) is no name of anything
WORDS = WORDS.filter(lambda text: text.isprintable())
NAMES = st.lists(st.one_of(st.integers(), WORDS), min_size=1, max_size=5)
LEAVES = st.one_of(st.integers(), st.booleans(), st.none(), WORDS, st.lists(st.integers()))
GROUPS = st.recursive(
    st.dictionaries(WORDS, LEAVES, max_size=4),
    lambda below: st.dictionaries(WORDS, st.one_of(LEAVES, below), max_size=4),
    max_leaves=12,
)


@given(NAMES, NAMES)
def test_different_names_have_different_seeds(one, two):
    same = [str(part) for part in one] == [str(part) for part in two]
    assert (derive_seed(*one) == derive_seed(*two)) == same


@given(GROUPS, GROUPS)
@example({"a": {"b": 1, "c": 2}}, {"a": {"c": 3}})
def test_merging_keeps_every_key_and_the_change_wins(base, change):
    kept = copy.deepcopy((base, change))
    merged = merge(base, change)
    assert (base, change) == kept
    assert merged.keys() == base.keys() | change.keys()
    for key, value in change.items():
        if isinstance(value, dict) and isinstance(base.get(key), dict):
            assert merged[key] == merge(base[key], value)
        else:
            assert merged[key] == value
    assert merge(base, {}) == base
    assert merge({}, base) == base
    assert merge(merged, change) == merged


@given(GROUPS)
def test_ordering_a_config_changes_nothing_but_the_order(config):
    ordered = in_order(config)
    assert ordered == config
    shuffled = dict(reversed(config.items()))
    assert str(in_order(shuffled)) == str(ordered)


FRAMES = st.integers(0, 12).flatmap(
    lambda rows: st.fixed_dictionaries(
        {
            "step": st.lists(st.integers(-(2**63), 2**63 - 1), min_size=rows, max_size=rows),
            "loss": st.lists(st.floats(allow_nan=True), min_size=rows, max_size=rows),
            "flag": st.lists(st.booleans(), min_size=rows, max_size=rows),
            "name": st.lists(WORDS, min_size=rows, max_size=rows),
        }
    )
)


@given(FRAMES)
def test_any_tidy_frame_survives_parquet_and_has_one_sequence_of_bytes(tmp_path_factory, columns):
    folder = tmp_path_factory.mktemp("frames")
    frame = pd.DataFrame(columns).astype(
        {"step": np.int64, "loss": np.float64, "flag": bool, "name": "str"}
    )
    files.write_parquet(frame, folder / "one.parquet")
    found = files.read_parquet(folder / "one.parquet")
    pd.testing.assert_frame_equal(found, frame)
    files.write_parquet(found, folder / "two.parquet")
    assert files.digest(folder / "one.parquet") == files.digest(folder / "two.parquet")
