"""Ladders of pictures: their sets, their views, and one from a folder of the test's."""

import types
from pathlib import Path

import pytest
import torch

from featlearn.core.claims import declared
from featlearn.core.config import load, read_yaml
from featlearn.core.errors import ConfigError
from featlearn.core.seeds import Streams
from featlearn.images.pretrained import LIBRARIES
from featlearn.universality import config as universality_config
from featlearn.universality.analysis import pictures as analysis
from featlearn.universality.experiments import pictures as experiment
from featlearn.universality.pictures import Pictures, Sight, dealt, drawn, open_set, pairs, seen
from image_folders import grow

ROOT = Path(__file__).parents[2]
STREAMS = Streams(0, "tests", "pictures", range(2))


def test_a_view_moves_the_picture_and_keeps_all_of_it() -> None:
    images = torch.rand(2, 5, 3, 3)
    place, noise = drawn((5,), 3, Sight(2, 0.0), STREAMS("places"))
    views = seen(images, place, noise, 2).reshape(2, 5, 5, 5)
    assert views.sum((2, 3)).numpy() == pytest.approx(images.sum((2, 3)).numpy(), rel=1e-5)
    row, column = place[1, 4].tolist()
    assert torch.equal(views[1, 4, row : row + 3, column : column + 3], images[1, 4])
    assert place.min() == 0
    assert place.max() == 2


@pytest.mark.parametrize("made", ["glyphs", "gratings"])
def test_made_sets_tell_their_classes_apart(made, tmp_path) -> None:
    own = open_set({"made": made}, tmp_path, 200, 8, (0, "tests", made), "key")
    assert own.images.shape == (200, 8, 8)
    assert own.images.min() >= 0
    assert own.images.max() <= 1
    assert sorted(own.classes.unique().tolist()) == list(range(8))


def test_a_set_that_is_turned_is_the_same_pictures_in_the_same_order(tmp_path) -> None:
    data = {"data": {"kind": "digits", "shares": {"test": 0.33}}}
    plain, turned = (
        open_set({**data, **more}, tmp_path, 0, 8, (0, "tests", name), "key")
        for name, more in (("digits", {}), ("turned digits", {"turned": True}))
    )
    assert torch.equal(plain.classes, turned.classes)
    assert torch.equal(plain.images.rot90(1, (1, 2)), turned.images)


def test_sets_and_encoders_are_told_apart_and_read_by_name(tmp_path) -> None:
    with pytest.raises(ConfigError, match=r"^the place: shares\.test: expected more than 0"):
        universality_config.state({"the place": {"kind": "digits"}})
    model = {"weights": "w", "targets": {"t": {"kind": "digits"}}}
    for encoder, told in (({}, "kind"), ({"kind": "resnet"}, "'resnet'")):
        asked = {"foundation": {"models": {"m": {**model, "encoder": encoder}}}}
        with pytest.raises(ConfigError, match=rf"foundation\.models\.m\.encoder.*{told}"):
            load({"scale": "smoke", "papers": ["universality"], "universality": asked}, ROOT)
    # the kinds that the schema lets through are those that there are
    read = {name: read_yaml(ROOT / f"workflow/schemas/{name}.schema.yaml")
            for name in ("universality", "shared")}  # fmt: skip
    kinds = read["universality"]["foundation"]["models"]["each"]["encoder"]["kind"]["enum"]
    assert kinds == [*read["shared"]["$defs"]["encoder"]["kind"]["enum"], *LIBRARIES, "text"]


def test_parts_of_a_set_are_apart_and_pairs_show_one_picture() -> None:
    own = Pictures(torch.rand(50, 2, 2), torch.zeros(50, dtype=torch.long))
    rows = dealt(own, {"train": 20, "validation": 10, "test": 10}, STREAMS("dealt"))
    every = torch.cat(list(rows.values()), 1)
    assert [part.shape[1] for part in rows.values()] == [20, 10, 10]
    assert all(len(set(one.tolist())) == 40 for one in every)
    few = dealt(own, {"train": 80, "validation": 10, "test": 10}, STREAMS("dealt"))
    assert [part.shape[1] for part in few.values()] == [40, 5, 5]
    stream = pairs(own.images, [rows["train"]] * 2, 6, Sight(0, 0.0), STREAMS("pairs"))
    first, second = next(stream)
    assert first.shape == (4, 6, 4)
    assert torch.equal(first, second)  # without room and noise both views are the picture
    assert torch.equal(first[:2], first[2:])  # spans share what is random


def test_a_ladder_of_folders(tmp_path) -> None:
    grow(tmp_path / "data", {"dark": 40, "light": 200}, 40)
    own = {"data": {"kind": "folder", "path": str(tmp_path / "data"), "shares": {"test": 0.3}}}
    config = {
        "replicates": 2, "side": 6, "room": 1, "noise": 0.1, "hidden": 16, "width": 4,
        "sets": [{"name": "shades", **own}, {"name": "glyphs", "made": "glyphs"}],
        "methods": ["moco"],
        "samples": {"train": 100, "validation": 20, "test": 20}, "steps": 20, "batch": 8,
        "rate": 0.01, "penalties": [0.1],
    }  # fmt: skip
    assert universality_config.state({"own": own["data"]})
    job = types.SimpleNamespace(config=config, seed=0, tell=lambda words: None,
                                results=tmp_path, params={"cache": "cache"})  # fmt: skip
    frame = experiment.measure(job)["pictures"]
    assert set(frame["mixture"]) == {0, 1, 2}
    easy = frame[(frame["arm"] == "moco") & (frame["task"] == 0) & (frame["percent"] == 100)]
    assert easy["value"].min() > 0.9
    for claim in declared(analysis, {"pictures": config}):
        assert len(claim.measure({"pictures": frame})) == 2
