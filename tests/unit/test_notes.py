"""What plans leave for the next: by the bytes it follows from, so that it is never stale."""

import shutil

import pytest

from featlearn.core.errors import ConfigError
from featlearn.core.run import notes
from featlearn.core.run.config import load
from unit import ROOT


@pytest.fixture(autouse=True)
def kept(tmp_path, monkeypatch):
    monkeypatch.setattr(notes, "_file", None)
    notes.open_notes(tmp_path / "notes.json")
    return tmp_path / "notes.json"


def never():
    raise AssertionError("found out again")


def test_what_is_known_is_not_found_out_again(kept):
    value = {"b": [1, 2.5, None, True], "a": "λ"}
    assert notes.noted("x", lambda: value) is value
    notes.keep_notes()
    notes.open_notes(kept)
    again = notes.noted("x", never)
    assert again == value
    assert list(again) == ["b", "a"]
    again["b"].append(3)  # whoever changes it changes no note
    assert notes.noted("x", never) == value


def test_without_a_file_nothing_is_kept_and_an_error_is_no_note(monkeypatch):
    with pytest.raises(AssertionError):
        notes.noted("x", never)
    monkeypatch.setattr(notes, "_file", None)
    results = iter([1, 2])
    assert [notes.noted("x", results.__next__) for _ in range(2)] == [1, 2]
    assert notes.of_sources() == ""


@pytest.mark.parametrize("value", [(1, 2), {1: "a"}, {"a": {"b": (1,)}}, {1.0}, object()])
def test_what_would_come_back_otherwise_is_not_noted(value, kept):
    notes.noted("x", lambda: value)
    assert notes.noted("x", lambda: "again") == "again"
    notes.keep_notes()


def test_too_many_notes_are_cut_to_those_in_use(kept, monkeypatch):
    notes.noted("old", lambda: "x" * 100)
    notes.keep_notes()
    monkeypatch.setattr(notes, "MOST", 150)
    notes.open_notes(kept)
    notes.noted("new", lambda: "y" * 100)
    notes.keep_notes()
    notes.open_notes(kept)
    assert [key.split()[-1] for key in notes._known] == ["new"]


def test_a_noted_config_follows_every_file_it_is_made_of(tmp_path):
    root = tmp_path / "clone"
    for name in ("config", "workflow/schemas"):
        shutil.copytree(ROOT / name, root / name)
    (root / "src").symlink_to(ROOT / "src")

    def loaded(**user):
        return load({"scale": "smoke", **user}, root)

    first = loaded()
    assert loaded() == first
    assert loaded(seed=7)["seed"] == 7
    scale = root / "config/scale/smoke.yaml"
    scale.write_text(scale.read_text().replace("scale: smoke", "scale: smoke\nseed: 5", 1))
    assert loaded()["seed"] == 5
    schema = root / "workflow/schemas/config.schema.yaml"
    schema.write_text(
        schema.read_text().replace("minimum: 0, maximum: 9223", "minimum: 6, maximum: 9223")
    )
    with pytest.raises(ConfigError, match="seed must be at least 6, got 5"):
        loaded()
