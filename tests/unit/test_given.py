"""Layers of a scale for the data sets that are there."""

import pytest

from featlearn.core.errors import ConfigError
from featlearn.core.given import layers_of, without

ONE = {"kind": "folder", "path": "one"}
PLAIN = {"scale": "real", "papers": ["toy"]}
SCALE = {
    "scale": "real",
    "sets": {"one": ONE, "two": {"kind": "folder", "path": "two"}},
    "papers": ["toy"],
    "given": {
        "one": {"toy": {"first": {"data": {"set": "one", "size": 8}}}},
        "other": {"toy": {"third": 1}},
        "two toy": {"toy": {"both": [{"data": {"set": "two"}}]}},
    },
}


def test_a_layer_counts_where_all_its_sets_are(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "one").mkdir()
    layers, missing = layers_of(SCALE, {})
    assert layers == [PLAIN, {"toy": {"first": {"data": {**ONE, "size": 8}}}}]
    assert missing == ["two: no two; stand-ins remain in toy.both"]
    (tmp_path / "two").mkdir()
    layers, missing = layers_of(SCALE, {})
    assert layers[2] == {"toy": {"both": [{"data": {"kind": "folder", "path": "two"}}]}}
    assert not missing


def test_a_set_of_the_user_is_taken_at_its_word_and_stands_in_no_config(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    user = {"sets": {"one": {"kind": "torchvision", "name": "MNIST"}}, "seed": 1}
    layers, missing = layers_of(SCALE, user)
    assert layers[1]["toy"]["first"]["data"] == {"kind": "torchvision", "name": "MNIST", "size": 8}
    assert [line.partition(":")[0] for line in missing] == ["two"]
    assert without(user, SCALE) == {"seed": 1}
    # the scale's own file, given as the user's, says nothing new
    assert without(SCALE, SCALE) == PLAIN
    assert layers_of(SCALE, SCALE) == layers_of(SCALE, {})


@pytest.mark.parametrize("sets", [{"three": ONE}, {"one": "one"}, ["one"]])
def test_a_wrong_set_is_refused_by_its_name(sets):
    with pytest.raises(ConfigError, match=r"sets(\.three|\.one|) must be"):
        layers_of(SCALE, {"sets": sets})
