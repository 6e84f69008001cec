"""Ladders of pictures, residual networks among them: sets, views, folders."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
import torch

from featlearn.core.errors import ConfigError
from featlearn.core.evidence.claims import declared
from featlearn.core.files import below
from featlearn.core.run.config import load, read_yaml
from featlearn.core.seeds import Streams
from featlearn.images.pretrained import LIBRARIES
from featlearn.universality import config as universality_config
from featlearn.universality.analysis import pictures as analysis
from featlearn.universality.analysis.real import LADDERS, Real
from featlearn.universality.experiments import pictures as experiment
from featlearn.universality.finetuning import with_untrained
from featlearn.universality.methods import METHODS, SimCLR, encode, repeated
from featlearn.universality.pictures import Pictures, Sight, dealt, drawn, open_set, pairs, seen
from featlearn.universality.residual import Residual
from image_folders import grow
from unit import ROOT, job_of

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
    job = job_of(config, results=tmp_path, params={"cache": "cache"})
    frame = experiment.measure(job)["pictures"]
    assert set(frame["mixture"]) == {0, 1, 2}
    easy = frame[(frame["arm"] == "moco") & (frame["task"] == 0) & (frame["percent"] == 100)]
    assert easy["value"].min() > 0.9
    for claim in declared(analysis, {"pictures": config}):
        assert len(claim.measure({"pictures": frame})) == 2


SETTINGS = {"kind": "small_resnet", "widths": [4], "norm": "group", "stem_stride": 2}


def _streams(*replicates: int) -> Streams:
    return Streams(0, "tests", "residual", replicates)


@pytest.mark.parametrize("features", ["map", "mean"])
def test_a_network_among_others_is_what_it_is_alone(features: str) -> None:
    body = Residual(SETTINGS, 9, features)
    many, alone = body.start(5, _streams(0, 1, 2)), body.start(5, _streams(1))
    x = torch.rand(3, 600, 81)  # more than go through together
    both = encode(many, x, body)[1], encode(alone, x[1:2], body)[0]
    torch.testing.assert_close(*both, rtol=1e-4, atol=1e-5)
    plain = {key.removeprefix("encoder."): own[0] for key, own in alone.items()}
    body.net.encoder.to_empty(device="cpu").load_state_dict(plain, strict=False)
    images = x[1, :4].reshape(4, 1, 9, 9).expand(-1, 3, -1, -1)
    whole = body.net.encoder
    own = whole.feature_map(images).flatten(1) if features == "map" else whole(images)
    torch.testing.assert_close(body(alone, x[1:2, :4])[0], own, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", sorted(METHODS))
def test_every_method_reaches_all_layers_of_a_residual_network(name: str) -> None:
    body = Residual(SETTINGS, 9, "map")
    weights = repeated(body.start(5, _streams(0, 1)), 2)
    for value in weights.values():
        value.requires_grad_()
    method: SimCLR = METHODS[name](weights, 0.2, _streams(0, 1)("heads"), body)
    loss = method.loss(torch.rand(4, 8, 81), torch.rand(4, 8, 81))
    assert loss.shape == (4,)
    loss[2].backward()
    for key, value in weights.items():
        if name in ("simsiam", "nnclr") and key == "offset":
            continue  # a batch norm takes it away
        assert value.grad is not None
        assert value.grad[2].abs().sum() > 0, key
        assert value.grad[[0, 1, 3]].abs().sum() == 0, key


def test_untrained_networks_come_first() -> None:
    body = Residual(SETTINGS, 9, "map")
    begun = body.start(5, _streams(0, 1))
    state = {
        f"{part}/{key}": value + 1 for part in ("encoder", "slow") for key, value in begun.items()
    }
    state["queue"] = torch.zeros(2, 6, 5)
    both = with_untrained(state, begun, _streams(0, 1)("queue"))
    for key, value in below("encoder", both).items():
        assert torch.equal(value[:2], begun[key])
        assert torch.equal(value[2:], begun[key] + 1)


@pytest.mark.parametrize(("own", "told"), [
    ({"encoder": {"norm": "batch"}}, r"residual\.encoder\.norm.*group"),
    ({"encoder": {"kind": "resnet50"}}, r"residual\.encoder\.kind.*small_resnet"),
    ({"encoder": {"layers": 18}}, r"residual\.encoder.*layers"),
])  # fmt: skip
def test_what_cannot_be_stacked_is_refused_by_its_key(own, told) -> None:
    asked = {"scale": "smoke", "papers": ["universality"], "universality": {"residual": own}}
    with pytest.raises(ConfigError, match=told):
        load(asked, ROOT)


SETS = {"sets": [{"name": name} for name in "ABC"], "methods": ["moco", "simsiam"]}
CONFIG = {"real": dict.fromkeys(LADDERS, SETS)}


def planted(fall: float, rise: float) -> pd.DataFrame:
    """With every set the target loses ``fall``, and the mean over sets gains ``rise``."""
    rows = []
    for percent, replicate, task in product((1, 5, 10, 20, 100), range(3), range(3)):
        level = 0.4 + percent / 1000 + replicate / 100
        for arm in ("raw input", "random features", "untrained"):
            rows.append((arm, 0, task, percent, replicate, level - 0.1))
        for arm, mixture in product(("moco", "moco grown", "simsiam"), (1, 2, 3)):
            own = -fall if task == 0 else (3 * rise + fall) / 2
            own *= 2 if arm == "moco grown" else 1  # changes more, so that the other is the worse
            value = level + own * (mixture - 1)
            # the network at its start and pixels are measured with every method
            rows += [(arm, mixture, task, percent, replicate, value)] * 2
    columns = ["arm", "mixture", "task", "percent", "replicate", "value"]
    return pd.DataFrame(rows, columns=columns)


def test_the_worst_of_the_ladders_is_read():
    claims = Real(CONFIG)
    claims.cifar10, claims.mnist = planted(0.04, 0.02), planted(0.05, 0.01)
    claims.fer2013 = planted(0.03, 0.03)
    assert np.allclose(claims.trade_off("target"), -0.06)
    assert np.allclose(claims.trade_off("average"), 0.02)
    assert np.allclose(claims.learned_not_raw(), 0.1)
