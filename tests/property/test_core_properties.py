"""Seeds, config, estimates and files for arbitrary content."""

import math
import os

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from featlearn.core.config import in_order, merge
from featlearn.core.files import (
    digest,
    read_parquet,
    read_tensors,
    write_atomically,
    write_parquet,
    write_tensors,
)
from featlearn.core.provenance import damage
from featlearn.core.seeds import derive_seed
from featlearn.core.stats import estimate

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


@given(NAMES)
def test_a_longer_name_is_another_stream(name):
    assert derive_seed(*name) != derive_seed(*name, 0)


@given(GROUPS, GROUPS)
def test_merging_keeps_every_key_and_the_change_wins(base, change):
    merged = merge(base, change)
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


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=30), st.floats(-100, 100))
def test_an_interval_lies_around_the_mean_and_moves_with_the_values(values, shift):
    found = estimate(np.array(values))
    size = 1 + max(map(abs, values)) + abs(shift)
    assert found.half_width >= 0
    assert found.low <= found.mean <= found.high
    assert found.mean == pytest.approx(math.fsum(values) / len(values), abs=1e-9 * size)
    moved = estimate(np.array(values) + shift)
    assert moved.mean == pytest.approx(found.mean + shift, abs=1e-9 * size)
    assert moved.half_width == pytest.approx(found.half_width, abs=1e-6 * size)
    turned = estimate(-np.array(values))
    assert turned.half_width == pytest.approx(found.half_width, abs=1e-9 * size)


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
    write_parquet(frame, folder / "one.parquet")
    found = read_parquet(folder / "one.parquet")
    pd.testing.assert_frame_equal(found, frame)
    write_parquet(found, folder / "two.parquet")
    assert digest(folder / "one.parquet") == digest(folder / "two.parquet")


@given(
    st.dictionaries(
        WORDS, st.lists(st.floats(allow_nan=False, width=32), max_size=6), min_size=1, max_size=4
    )
)
def test_any_tensors_survive_safetensors(tmp_path_factory, columns):
    folder = tmp_path_factory.mktemp("tensors")
    tensors = {name: torch.tensor(values) for name, values in columns.items()}
    write_tensors(tensors, folder / "one")
    found = read_tensors(folder / "one")
    assert found.keys() == tensors.keys()
    assert all(torch.equal(found[name], tensors[name]) for name in tensors)
    write_tensors(dict(reversed(tensors.items())), folder / "two")
    assert digest(folder / "one") == digest(folder / "two")


@given(st.binary(min_size=1, max_size=200), st.data())
def test_any_change_of_an_artefact_is_found(tmp_path_factory, content, data):
    """Another length, or one other byte under the old time of change."""
    path = tmp_path_factory.mktemp("artefact") / "file"
    write_atomically(path, content)
    status = path.stat()
    record = {"bytes": len(content), "mtime_ns": status.st_mtime_ns, "sha256": digest(path)}
    assert damage(path, record, thorough=True) is None
    place = data.draw(st.integers(0, len(content) - 1))
    flip = data.draw(st.integers(1, 255))
    changed = bytearray(content)
    changed[place] ^= flip
    if data.draw(st.booleans()):
        changed = changed[:place]
    path.write_bytes(changed)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert damage(path, record, thorough=True) is not None
