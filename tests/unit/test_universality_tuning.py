"""Fine-tuning, adapters on frozen features, and Proposition F.9."""

import json
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

from featlearn.core.errors import ConfigError, FeatlearnError
from featlearn.core.files import write_tensors
from featlearn.core.run.checks import Checks
from featlearn.core.run.config import read_yaml
from featlearn.core.seeds import Streams, seeded
from featlearn.images.encoders import build_encoder
from featlearn.transformers import folder, sentences
from featlearn.universality import config as universality_config
from featlearn.universality.adapters import Cached, nt_xent, scored, train_adapters
from featlearn.universality.analysis import foundation as tables
from featlearn.universality.closed_forms import canonical, predicted, projected, regularised
from featlearn.universality.data import draw_world
from featlearn.universality.encoders import ADAPTED, CHANCE, ENCODER, PROBED
from featlearn.universality.experiments import foundation
from featlearn.universality.finetuning import batches, resumed, scores, tune
from featlearn.universality.frozen import read_texts
from featlearn.universality.labelled import labelled
from featlearn.universality.methods import start, unit
from featlearn.universality.words import RANDOM, RAW, UNTRAINED
from image_folders import grow
from unit import ROOT, job_of

STREAMS = Streams(0, "universality", "tests", range(2))


@pytest.mark.parametrize("weight", [0.0, 0.1])
def test_fine_tuning_learns_few_labels_and_sees_no_others(weight: float) -> None:
    world = draw_world((2, 2, 3), 2, 3, STREAMS("world"))
    target = labelled(world, 0, 40, STREAMS("labelled"))
    begun = start(world.width, 16, 4, STREAMS("start"))
    state = {f"{part}/{key}": value for part in ("encoder", "slow") for key, value in begun.items()}
    state["queue"] = unit(torch.randn(2, 8, 4, generator=torch.Generator().manual_seed(0)))
    spoilt = target._replace(classes=target.classes.clone())
    spoilt.classes[:, 6:] = 0
    heads = []
    for one in (target, spoilt):
        method = resumed(state, 1)
        stream = batches(world, one, [6], 1, 8, STREAMS("batches"), 2 if weight else 1)
        heads.append((method, tune(method, 3, weight, stream, 60, 1e-2)))
    method, head = heads[0]
    right = scores(method, head, target.views).argmax(-1) == target.classes
    assert right[:, :6].float().mean() > 0.9
    assert torch.equal(head["weight"], heads[1][1]["weight"])


def test_batches_of_fewer_labels_are_the_first_samples() -> None:
    world = draw_world((2, 2, 3), 2, 3, STREAMS("world"))
    target = labelled(world, 0, 40, STREAMS("labelled"))
    y, one, two = next(batches(world, target, [1, 40], 3, 5, STREAMS("batches"), 2))
    assert y.shape == (12, 5)
    assert one.shape == two.shape == (12, 5, world.width)
    assert (y[:6] == target.classes[:, 0].repeat(3)[:, None]).all()


def test_nt_xent_is_its_definition() -> None:
    torch.manual_seed(0)
    a, b = torch.randn(1, 5, 4), torch.randn(1, 5, 4)
    z = unit(torch.cat([a, b], 1))[0]
    wanted = 0.0
    for i in range(10):
        others = [j for j in range(10) if j != i]
        logits = (z[i] @ z[others].T) / 0.5
        wanted += (logits.logsumexp(0) - z[i] @ z[(i + 5) % 10] / 0.5).item() / 10
    assert nt_xent(a, b)[0].item() == pytest.approx(wanted, abs=1e-5)
    torch.manual_seed(0)
    both = [torch.randn(16, 8)[None] for _ in range(2)]
    assert nt_xent(*both).item() == pytest.approx(3.5400, abs=1e-4)  # of two other codings


def test_adapters_learn_and_a_contrast_asks_for_two_copies() -> None:
    random = torch.Generator().manual_seed(1)
    x = torch.randn(2, 30, 6, generator=random)
    y = (x[..., 0] > 0).long()
    cached = Cached(x[:, None].repeat(1, 2, 1, 1), dict.fromkeys(("train", "test"), (x, y)), 2)
    cached = cached.standardised()
    assert cached.parts["train"][0].mean(1).abs().max() < 1e-5
    weights = train_adapters(cached, [5, 30], 2, 1.0, (16, 16, 80, 1e-2), STREAMS("adapters"))
    right = scored(weights, cached.parts["train"][0].repeat(2, 1, 1)).argmax(-1) == y.repeat(2, 1)
    assert right[2:].float().mean() > 0.95
    assert right[:2, :5].float().mean() > 0.9
    with pytest.raises(ValueError, match="two or more"):
        train_adapters(cached, [5], 1, 1.0, (4, 4, 1, 1e-2), STREAMS("adapters"))


def _measured(
    tmp_path: Path, name: str, model: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    config = {"models": {name: model}, "tasks": [0], "copies": [1, 2], "weight": 1, "width": 8,
              "batch": 8, "steps": 20, "rate": 0.01, "deals": 2}  # fmt: skip
    check = Checks("universality", {"foundation": config})
    universality_config._check_encoder(check, model, f"foundation.models.{name}")
    assert check.faults == []
    params = {"ladders": {"penalties": [0.1]}, "cache": "cache"}
    return foundation.measure(job_of(config, results=tmp_path, params=params)), config


def _probed(model: str, target: str, numbers: dict[float | None, int]) -> list[dict[str, Any]]:
    return [{"model": model, "target": target, "features": features, "percent": percent,
             "labels": labels, "replicate": replicate, "value": value, "training": 1.0}
            for percent, labels in numbers.items() for replicate in (0, 1)
            for features, value in ((ENCODER, 0.8), (RAW, 0.6), (CHANCE, 0.1))]  # fmt: skip


def test_encoders_of_printed_names_stand_beside_what_is_printed() -> None:
    quoted = read_yaml(ROOT / "config/paper_values/universality.yaml")
    numbers = {100.0: 9000, None: 500}
    frame = pd.DataFrame([
        *_probed("MoCo v3 ViT-S on ImageNet-Bird", "ImageNet-Bird", numbers),
        *_probed("MoCo v3 ViT-S on ImageNet", "ImageNet-Bird", {None: 12}),
        *_probed("MoCo v3 ViT-S on ImageNet", "ImageNet", {100.0: 99999}),
        *_probed("MoCo v3", "CIFAR-10", {100.0: 50000}),
    ])  # fmt: skip
    made = tables.by_labels(frame, quoted, "table-f-2")
    both = made.frame.set_index(["row", "column"])
    told = both.loc[("Bird, 500 labels", "ImageNet-Bird"), ["measured", "paper_value"]]
    assert told.tolist() == [80, 76]
    assert both.loc[("ImageNet, all", "ImageNet"), "measured"] == 80
    assert both.loc[("ImageNet-Bird, 12 labels", "ImageNet"), "measured"] == 80
    assert both["measured"].notna().sum() == 4 + 6  # raw input and chance once a set and number
    assert np.isnan(both.loc[("Bird, 1k", "ImageNet"), "measured"])
    pair = made.shown[made.shown["row"] == "Bird, 500 labels"]
    assert pair[""].tolist() == ["here", "thesis"]
    assert pair["raw input"].tolist() == ["60", "-"]

    shares = frame[frame["model"] == "MoCo v3"]
    rows = [{"model": "MoCo v3", "target": "CIFAR-10", "method": method, "copies": copies,
             "percent": 100, "labels": 50000, "replicate": 0, "value": 0.9, "training": 1.0}
            for method, copies in (("LP", 1), ("FT", 1), ("FT", 10))]  # fmt: skip
    rows += [{**row, "replicate": 1} for row in rows]
    config: dict[str, Any] = {
        "models": {"MoCo v3": {"encoder": {"kind": "vit"}}},
        "copies": [1, 10],
    }
    made = tables.by_share(pd.DataFrame(rows), shares, quoted, config, "table-f-7", "MoCo v3", 1)
    both = made.frame.set_index(["row", "column"])
    told = both.loc[("CIFAR-10, FT, 10", "100 %"), ["measured", "paper_value"]]
    assert told.tolist() == [90, 96.17]
    assert both.loc[("CIFAR-10, raw input", "100 %"), "measured"] == 60
    made = tables.all_labels(pd.DataFrame(rows), shares, quoted, config)
    both = made.frame.set_index(["row", "column"])
    assert both.loc[("FT", "MoCo v3 CIFAR-10"), ["measured", "paper_value"]].tolist() == [90, 96.17]


def test_names_of_encoders_are_those_of_printed_rows() -> None:
    quoted = read_yaml(ROOT / "config/paper_values/universality.yaml")
    for name, printed in PROBED.items():
        lines = [(row["target"], row["column"]) for row in quoted[printed.key]["rows"]]
        own = set(product(printed.rows.values(), printed.columns.values()))
        assert own <= set(lines), name
        alone = name not in ("table-f-1", "table-f-10", "table-f-11")
        assert not alone or len(own) == len(lines), name
    for name, (model, targets) in ADAPTED.items():
        assert {row["target"] for row in quoted[name]["rows"]} == set(targets)
        columns = {row["column"] for row in quoted["table-7-2"]["rows"]}
        assert {f"{model} {target}" for target in targets} <= columns


def test_which_tables_a_config_measures() -> None:
    vit = "MoCo v3 ViT-S on"
    sets = {key: {} for key in ("ImageNet-Bird", "ImageNet")}
    named = (f"{vit} ImageNet-Bird", f"{vit} ImageNet", f"{vit} 10 % ImageNet")
    models: dict[str, Any] = {name: {"targets": sets} for name in named}
    asked: dict[str, Any] = {"models": models, "copies": [1, 10]}
    # the two encoders of Table F.3 that are here have no vehicles, but all of ImageNet
    made = universality_config.from_files(asked)
    assert made == {"table-f-2", "table-f-3", "table-f-10"}
    told = universality_config.contains(asked)
    assert [name for name in told if told[name] == "measured"] == ["table-f-2"]
    birds = universality_config.asked(models, named[0], "ImageNet-Bird")
    assert birds == [500, 1000, 2000, 4000, 8000]
    models[named[0]]["labels"] = [500]
    assert "measured" not in universality_config.contains(asked).values()
    models |= {"CLIP": {"targets": {key: {} for key in ("ImageNet", "SVHN", "GTSRB")}}}
    assert universality_config.contains(asked)["table-f-6"] == "stand-in"  # without 100 copies
    assert (
        universality_config.contains({**asked, "copies": [1, 10, 100]})["table-f-6"] == "measured"
    )


def test_needs_are_met_by_what_lies_there_and_not_by_names(tmp_path, monkeypatch) -> None:
    for part in ("train", "validation", "test"):
        grow(tmp_path / part, {"dark": 40, "light": 200}, 8)
    data = {"kind": "folder", "path": str(tmp_path), "size": 8}
    clip = {"kind": "timm", "name": "vit_large_patch14_clip_224"}
    foundation = {"models": {"CLIP": {"encoder": clip, "targets": {"SVHN": data}}}}
    assert universality_config.met(foundation) == {"clip-vit-l"}
    monkeypatch.setitem(universality_config.SETS, "SVHN", ("svhn", 2, 16))
    assert universality_config.met(foundation) == {"clip-vit-l", "svhn"}
    foundation["models"]["CLIP"]["encoder"] = {"kind": "vit_small"}
    assert universality_config.met(foundation) == {"svhn"}


def test_more_labels_than_samples_are_refused(tmp_path) -> None:
    with seeded(0, "tests"):
        encoder = build_encoder({"kind": "small_resnet", "widths": [4]}, 8)
    write_tensors(encoder.state_dict(), tmp_path / "weights.safetensors")
    name = "MoCo v3 ViT-S on ImageNet-Bird"
    model = {"encoder": {"kind": "small_resnet", "widths": [4]}, "augmentation": {"preset": "none"},
             "weights": str(tmp_path / "weights.safetensors"),
             "targets": {"ImageNet-Bird": {"kind": "digits", "size": 8}}}  # fmt: skip
    with pytest.raises(ConfigError, match=r"ImageNet-Bird: \d+ training samples; expected 8000"):
        _measured(tmp_path, name, model)


def test_a_folder_with_an_encoder_of_texts(tmp_path, tiny_bert) -> None:
    words = ["good", "bad", "film", "book", "a", "the"]
    (tmp_path / "texts").mkdir()
    random = np.random.default_rng(0)
    for part, count in (("train", 24), ("validation", 12), ("test", 12)):
        rows = [{"text": " ".join([*random.choice(words[2:], number % 3), words[number % 2]]),
                 "label": 1 - number % 2} for number in range(count)]  # fmt: skip
        lines = "\n".join(json.dumps(row) for row in rows)
        (tmp_path / "texts" / f"{part}.jsonl").write_text(lines)
    model = {"encoder": {"kind": "text"}, "weights": str(tiny_bert), "augmentation": {},
             "targets": {"reviews": {"path": str(tmp_path / "texts")}}}  # fmt: skip
    measured, config = _measured(tmp_path, "small", model)
    found, probed = measured["adapters"], measured["probed"]
    assert set(probed["features"]) == {ENCODER, CHANCE, RAW, RANDOM, UNTRAINED}
    assert probed["value"].between(0, 1).all()
    always = probed[(probed["features"] == CHANCE) & (probed["percent"] == 100)]
    assert always["value"].tolist() == [0.5, 0.5]
    raw = probed[(probed["features"] == RAW) & (probed["percent"] == 100)]
    assert raw["value"].min() > 0.9  # so easy are these classes
    assert set(found["method"]) == {"LP", "FT", "Ours"}
    probe = found[(found["method"] == "LP") & (found["percent"] == 100)]
    assert probe["value"].min() > 0.9
    assert set(found["copies"]) == {1, 2}
    quoted = {"table-f-8": {"rows": [{"target": "IMDB", "method": "LP", "column": "1 %",
                                      "paper_value": 79.7}]}}  # fmt: skip
    shown = tables.by_share(found, probed, quoted, config, "table-f-8", "SimCSE", 0).shown
    assert shown["row"].str.startswith("small: reviews").any()

    before = universality_config.foundation_state(config)
    assert before == universality_config.foundation_state(config)

    loaded = folder.load_encoder(tiny_bert)
    texts = ["a good film", "bad", "the book"]
    together = sentences.features(loaded, texts)
    alone = torch.cat([sentences.features(loaded, [text]) for text in texts])
    assert together.numpy() == pytest.approx(alone.numpy(), abs=1e-5)
    copies = [sentences.features(loaded, texts, dropout=("copy", k)) for k in (0, 0, 1)]
    assert torch.equal(copies[0], copies[1])
    assert not torch.equal(copies[0], copies[2])
    assert not torch.equal(copies[0], together)
    (tmp_path / "texts" / "test.jsonl").write_text('{"text": "a"}')
    assert before != universality_config.foundation_state(config)
    with pytest.raises(FeatlearnError, match=r"test\.jsonl.*label"):
        read_texts(str(tmp_path / "texts"))


def test_proposition_f_9_on_both_balls() -> None:
    random = np.random.default_rng(0)
    centre = canonical(2, 2)
    near = projected(centre + random.standard_normal(centre.shape), centre, 0.7)
    assert np.linalg.norm(near - centre) <= 0.7 + 1e-9
    assert np.linalg.norm(near, 2) <= 1 + 1e-9
    assert projected(centre, centre, 0.7) == pytest.approx(centre, abs=1e-12)
    found = regularised(4, 4, 0.5, np.random.default_rng(5))
    assert predicted(4, 4, 0.5) == pytest.approx(0.5625)
    assert found[:4] == pytest.approx(1, abs=5e-3)
    assert found[4:8].mean() == pytest.approx(0.5625, abs=5e-3)
    assert found[8:] == pytest.approx(0.25, abs=1e-6)
