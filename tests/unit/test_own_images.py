"""Real images through the comparison: data, faults, nested labels, the same budget for all."""

import os
import re
import shutil
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import torch
import yaml
from PIL import Image

from featlearn.core.errors import ConfigError
from featlearn.core.run.config import fill_defaults, load, merge, read_schema, read_yaml
from featlearn.images.data.datasets import in_turn
from featlearn.images.data.on_disk import as_opened, sources
from featlearn.images.encoders import build_encoder
from featlearn.images.figures import maps_figure
from featlearn.images.methods import build_method
from featlearn.images.rng import Draws
from featlearn.images.train import replicate
from featlearn.images.train.loop import fit
from featlearn.own_images import analysis
from featlearn.own_images.analysis import difference, wilson
from featlearn.own_images.baselines import FEATURES, PIXELS, measure
from featlearn.own_images.config import (
    faults,
    map_panels,
    method_of,
    missing_weights,
    starts,
    state,
)
from featlearn.own_images.experiment import RealExperiment, describe
from featlearn.own_images.pictures import panel
from featlearn.own_images.report import sentences, warnings
from image_folders import grow, picture
from unit import ROOT, job_of

TINY = {
    "encoder": {"small_resnet": {"widths": [4, 8]}},
    "pretraining": {
        "objective": {"simmim": {"mask_size": 4, "decoder_depth": 1, "decoder_width": 8}},
        "training": {"epochs": 1, "batch_size": 16},
    },
    "finetuning": {"training": {"steps": 2, "batch_size": 8}},
    "label_fractions": [0.5, 1.0],
}


def filled(**settings) -> dict:
    schema = read_schema(ROOT / "workflow" / "schemas")
    found = fill_defaults({"own": settings}, schema["properties"]["real_images"], schema)
    return found["own"]


def tiny(root: Path, **more) -> dict:
    data = {"kind": "folder", "path": str(root), "size": 16}
    return filled(**merge({**TINY, "data": data}, more))


COLOURS = {"daisy": (160, 160, 40), "rose": (170, 40, 40), "tulip": (40, 40, 170)}


@pytest.fixture(scope="module")
def garden(tmp_path_factory):
    root = grow(tmp_path_factory.mktemp("own") / "garden", COLOURS, 12)
    (root / "rose" / "broken.jpg").write_bytes(b"\xff\xd8\xff\xe0 no picture")
    return root


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def experiment(garden, cache):
    return RealExperiment("garden", tiny(garden), cache, seed=0, replicate=0)


@pytest.mark.parametrize(("change", "told"), [
    ({"data": {"size": 20}}, "pretraining.objective.simmim.mask_size: 8;"),
    ({"pretraining": {"processes": 3, "nodes": 2}}, "pretraining.processes: 3;"),
    ({"weights": "no/such/file"}, "weights: 'no/such/file'; expected a file, or a name"),
    ({"weights": {"mine": "no/such"}}, "weights.mine: 'no/such'; expected a file, or a name"),
    ({"detection": {"training": {"steps": 3}}}, "detection: beside data of kind folder"),
    ({"data": {"shares": {"test": 0.999}}}, "data.shares.test: 0.999; expected at most 0.9: "),
    ({"data": {"shares": {"validation": 0.5}}}, "data.shares.validation: 0.5; expected none: "),
])  # fmt: skip
def test_values_that_contradict_each_other_are_named(change, told):
    settings = filled(**merge({"data": {"kind": "folder", "path": "f"}}, change))
    (line,) = faults({"own": settings})
    assert line.startswith(f"real_images.own.{told}")


def test_the_config_for_a_processor_is_valid_and_makes_the_pair_and_the_triple_of_the_paper():
    sets = load(read_yaml(ROOT / "config" / "cifar10.yaml"), ROOT)["real_images"]
    assert not list(faults(sets))
    assert map_panels(sets) == [
        [("cifar10", "random"), ("cifar10", "pretrained")],
        [("cifar10-data2vec", "random"), ("cifar10-mae", "pretrained"),
         ("cifar10-data2vec", "pretrained")],
    ]  # fmt: skip
    kinds = {name: method_of(sets[name], "pretrained") for name in sets}
    assert kinds == {
        "cifar10": "simmim", "cifar10-mae": "mae", "cifar10-data2vec": "data2vec"
    }  # fmt: skip


@pytest.mark.parametrize("name", ["imagenet", "voc"])
def test_configs_for_the_papers_own_data_are_valid_and_say_what_is_missing(name, tmp_path):
    own = read_yaml(ROOT / "config" / f"{name}.yaml")
    config = load(own, ROOT)
    sets = config["real_images"]
    told = list(faults(sets))
    assert told == [line for line in told if "weights.simmim: 'results/imagenet/" in line]
    for one in sets.values():
        one["data"]["path"] = str(tmp_path)
    with pytest.raises(ConfigError) as missing:
        state(sets)
    assert len(str(missing.value).splitlines()) == len(sets)
    for settings in sets.values():
        assert "given-supervised" in starts(settings)
    for model in config["eigencam"]["photographs"]["models"]:
        encoder = model["encoder"]  # of another size: the options are what is looked at
        smaller = {"vit_base": "vit_tiny"}.get(encoder["kind"], encoder["kind"])
        build_encoder({**encoder, "kind": smaller}, 224)


def test_weights_of_a_library_that_are_not_here_are_told_with_their_place(monkeypatch, tmp_path):
    monkeypatch.setenv("TORCH_HOME", str(tmp_path))
    weights = {"mine": "torchvision:ResNet50_Weights.IMAGENET1K_V1", "own": "a/file"}
    settings = filled(data={"kind": "digits"}, weights=weights)
    (told,) = missing_weights({"own": settings})
    assert told.startswith("real_images.own.weights.mine: weights torchvision:ResNet50_Weights")
    assert "put resnet50-0676ba61.pth" in told
    assert str(tmp_path) in told


PAGE = (ROOT / "docs" / "your-own-images.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("text", re.findall(r"^```yaml\n(.*?)^```", PAGE, re.M | re.DOTALL))
def test_every_config_on_the_page_is_valid(text):
    sets = load(yaml.safe_load(text), ROOT)["real_images"]
    assert not list(faults(sets))
    for settings in sets.values():
        size = settings["data"]["size"]
        encoder = build_encoder(settings["encoder"], size)
        method = build_method(settings["pretraining"]["objective"], encoder)
        with torch.inference_mode():
            loss = method(torch.zeros(2, 3, size, size), None, Draws(("page",), 0, 2))["loss"]
        assert loss.isfinite()


def test_test_images_are_the_own_ones_else_validation_else_a_share(tmp_path):
    settings = {"kind": "folder", "path": str(tmp_path), "shares": {"test": 0.25}}
    assert as_opened(settings)["splits"] == {"train": "all"}
    assert as_opened(settings)["shares"] == {"test": 0.25}
    with pytest.raises(ConfigError, match=r"shares\.test: expected more than 0"):
        sources({**settings, "shares": {"test": 0}})
    for name in ("train", "val"):
        (tmp_path / name).mkdir()
    assert as_opened(settings)["splits"] == {"train": "train", "test": "val"}
    assert as_opened(settings)["shares"] == {}
    (tmp_path / "test").mkdir()
    assert as_opened(settings)["splits"] == {"train": "train", "test": "test"}


def test_a_picture_replaced_by_one_of_the_same_size_and_time_is_decoded_again(tmp_path):
    root = grow(tmp_path / "flowers", COLOURS, 5)
    for file in root.glob("*/*.png"):
        Image.open(file).save(file.with_suffix(".ppm"))
        file.unlink()
    settings = tiny(root)
    before = state({"own": settings})
    pixels = describe(settings["data"], tmp_path / "cache", 0, "own")[0]
    assert state({"own": tiny(root, replicates=9)}) == before
    file = root / "rose" / "0.ppm"
    was = file.stat()
    picture(7, COLOURS["rose"]).save(tmp_path / "other.ppm")
    with open(file, "r+b") as handle:  # in place: not even another file
        handle.write((tmp_path / "other.ppm").read_bytes())
    os.utime(file, ns=(was.st_atime_ns, was.st_mtime_ns))
    now = file.stat()
    for name in ("st_size", "st_mtime_ns", "st_ino"):
        assert getattr(now, name) == getattr(was, name)
    assert state({"own": settings}) != before
    after = describe(settings["data"], tmp_path / "cache", 0, "own")[0]
    assert set(after["pixels"]).isdisjoint(pixels["pixels"])


@pytest.mark.parametrize(("change", "told"), [
    (
        {"pretraining": {"training": {"batch_size": 64, "drop_last": True}}},
        "pretraining.training.batch_size: 64; expected at most the 30 training images, or",
    ),
    (
        {"finetuning": {"training": {"batch_size": 16, "drop_last": True}}},
        "finetuning.training.batch_size: 16; expected at most the 15 labels at 0.5 of them",
    ),
    (
        {"train_images": 9, "pretraining": {"training": {"drop_last": True}}},
        "pretraining.training.batch_size: 16; expected at most the 9 training",
    ),
    ({"data": {"shares": {"test": 0.01}}}, "data: 37 images, of which shares.test: 0.01"),
])  # fmt: skip
def test_a_set_too_small_for_a_step_is_refused_before_any_job(change, told, garden):
    with pytest.raises(ConfigError, match=re.escape(f"real_images.own.{told}")):
        state({"own": tiny(garden, **change)})


def test_images_are_normalised_by_their_own_statistics_and_one_label_a_class_is_enough(
    garden, cache, experiment
):
    inputs = experiment.plain.normalise(experiment.train.images)
    assert inputs.mean((0, 2, 3)).abs().max() < 1e-5
    given = RealExperiment("garden", tiny(garden, normalisation="given"), cache, 0, 0)
    assert given.plain.normalise(given.train.images).mean((0, 2, 3)).abs().max() > 0.1
    own = RealExperiment("garden", tiny(garden, label_fractions=[0.01]), cache, 0, 0)
    found, *_ = own.evaluate(own.encoder, lambda _: None)
    assert found["labels"].tolist() == [3, 3, 3]
    assert found["value"].between(0, 1).all()


def test_smaller_sets_of_labels_lie_in_larger_ones_and_hold_every_class(garden, cache):
    settings = tiny(garden, label_fractions=[0.1, 1.0, 0.5])
    own = RealExperiment("garden", settings, cache, 0, 0)
    small = RealExperiment("garden", tiny(garden, train_images=9), cache, 0, 0)
    assert torch.bincount(small.train.labels).tolist() == [3, 3, 3]
    assert len(small.test) == 7
    few, half, whole = (set(own.labelled_rows[share].tolist()) for share in (0.1, 0.5, 1.0))
    assert few < half < whole == set(range(29))
    assert set(own.train.labels[sorted(few)].tolist()) == {0, 1, 2}
    other = RealExperiment("garden", settings, cache, 0, 1).labelled_rows
    assert set(other[0.5].tolist()) != half


@pytest.mark.parametrize(("name", "replicate"), [("garden", 1), ("other", 0)])
def test_replicates_and_sets_share_images_and_differ_in_weights(
    garden, cache, experiment, name, replicate
):
    other = RealExperiment(name, tiny(garden), cache, 0, replicate)
    assert torch.equal(other.test.images, experiment.test.images)
    assert torch.equal(other.train.images, experiment.train.images)
    first, second = experiment.encoder().state_dict(), other.encoder().state_dict()
    assert any(not torch.equal(first[name], second[name]) for name in first)


def test_every_start_has_the_same_images_and_steps(experiment, monkeypatch):
    calls = []

    def noted(objective, images, labels, augment, settings, name, *rest, **options):
        calls.append((images.clone(), labels.clone(), settings, name))
        return fit(objective, images, labels, augment, settings, name, *rest, **options)

    monkeypatch.setattr(replicate, "fit", noted)
    weights = experiment.encoder().state_dict()
    for start in ("random", "pretrained"):
        experiment.evaluate(lambda s=start: experiment.started(s, weights), lambda _: None)
    scratch, tuned = calls[:2], calls[2:]
    assert len(scratch) == len(tuned) == 2
    for one, other in zip(scratch, tuned, strict=True):
        assert torch.equal(one[0], other[0])
        assert torch.equal(one[1], other[1])
        assert one[2:] == other[2:]


def test_from_images_to_table_and_figure(experiment):
    encoder, history = experiment.pretrain()
    assert len(history) == 1
    weights = encoder.state_dict()
    frames, said = [], []
    for start, kind in (("random", "random"), ("pretrained", "simmim")):
        found = experiment.evaluate(lambda s=start: experiment.started(s, weights), lambda _: None)
        assert found.measured["labels"].tolist() == [14, 14, 14, 29, 29, 29]
        assert set(found.measured["test_images"]) == {7}
        assert found.weights["head.weight"].shape == (3, 8)
        about = {"data_set": "garden", "start": start, "method": kind}
        for number in (0, 1):
            own = {**about, "replicate": number}
            frames.append(found.measured.assign(**own))
            said.append(found.said.assign(**own))
    evaluations, predictions = pd.concat(frames), pd.concat(said)
    table, *_ = analysis.accuracies(evaluations, predictions)
    assert len(table) == 2 * 3 * 2
    both = (
        pd.concat([one, one[one["replicate"] == 0].assign(data_set="shed")])
        for one in (evaluations, predictions)
    )
    assert "mean of 2 replicates (shed: 1)." in analysis.accuracies(*both).notes
    assert set(table["method"]) == {"from scratch", "random", "SimMIM"}
    one = table[(table["start"] == "pretrained") & (table["evaluation"] == "linear probe")]
    against = table[(table["start"] == "random") & (table["evaluation"] == "linear probe")]
    apart = one["mean"].to_numpy() - against["mean"].to_numpy()
    assert one["gain"].to_numpy() == pytest.approx(apart)
    assert (one["gain_low"] <= one["gain"]).all()
    assert against["gain"].isna().all()
    assert table["low"].ge(0).all()
    assert table["high"].le(1).all()
    classes = analysis.classes(predictions).frame
    assert classes.groupby("start")["test_images"].sum().tolist() == [7, 7]
    assert [head for head, _ in warnings(table, counted())] == ["Few test images."]
    probe = table[(table["evaluation"] == "linear probe") & (table["fraction"] == 1.0)]
    assert probe["mean"].tolist() == [1.0, 1.0]  # the colours are plain to see


def test_wilson_lies_between_its_neighbours_and_never_outside_of_0_to_1():
    # Wilson (1927), as Brown, Cai & DasGupta (2001) print it for 5 of 10
    assert wilson(0.5, 10) == pytest.approx((0.2366, 0.7634), abs=1e-4)
    assert wilson(1.0, 11)[1] == 1.0
    assert wilson(0.0, 11)[0] == 0.0
    for ends in zip(*(wilson(share, 11) for share in (5 / 11, 5.5 / 11, 6 / 11)), strict=True):
        assert ends[0] < ends[1] < ends[2]
    assert wilson(5 / 11, 11)[0] == pytest.approx(wilson(5 / 11 + 1e-12, 11)[0])


def test_a_bootstrap_pairs_images_and_knows_when_there_is_no_difference():
    rng = np.random.default_rng(0)
    right = rng.integers(0, 2, (3, 40))
    assert difference(right, right) == (0.0, 0.0, 0.0)
    better = right.copy()
    better[:, :12] = 1
    mean, low, high = difference(better, right)
    assert mean == pytest.approx((better - right).mean())
    assert 0 < low < mean < high < 1
    # images that both get right say nothing: the interval is that of the paired differences
    error = (better - right).mean(0).std() / 40**0.5
    assert (high - low) / 2 == pytest.approx(1.96 * error, rel=0.35)


@pytest.mark.parametrize(("low", "high", "told"), [
    (0.01, 0.2, "SimMIM added 0.10 (0.01 to 0.20)"),
    (-0.2, -0.01, "SimMIM took something from training from scratch"),
    (0.0, 0.2, "Whether SimMIM adds anything to training from scratch, these images do not"),
])  # fmt: skip
def test_a_gain_is_claimed_only_if_its_interval_lies_on_one_side(low, high, told):
    row = {"data_set": "a", "evaluation": "fine-tuned", "fraction": 1.0, "labels": 80, "mean": 0.6,
           "quantity": "accuracy", "low": 0.5, "high": 0.7, "test_images": 20}  # fmt: skip
    gain = {"method": "SimMIM", "gain": 0.1, "gain_low": low, "gain_high": high}
    table = pd.DataFrame([{**row, "method": "from scratch"}, {**row, **gain}])
    assert sentences(table, counted(), {"a": 0})[2].startswith(told)


def test_leaks_contradictions_and_empty_classes_are_told_first():
    table = pd.DataFrame([{"data_set": "a", "test_images": 200, "quantity": "accuracy",
                           "low": 0.4, "high": 0.6}])  # fmt: skip
    counts = counted(images=[80, 0, 100, 0], repeated=[3, 0, 2, 0], contradicted=[0, 0, 1, 0])
    heads = [head for head, _ in warnings(table, counts)]
    assert heads == ["Test images that were trained on.", "One picture, two classes.",
                     *["Classes without images."] * 2]  # fmt: skip


def test_what_stands_twice_is_counted_and_named(garden, tmp_path, cache):
    own = tmp_path / "flowers"
    for part in ("train", "test"):
        shutil.copytree(garden, own / part)
    name = sorted(COLOURS)[0]
    for part in ("train", "test"):
        (own / part / name / "broken.jpg").unlink(missing_ok=True)
    other = own / "train" / sorted(COLOURS)[1]
    model = min((own / "train" / name).glob("*.png"))
    shutil.copy(model, other / "copied.png")
    summary, _, twice = describe(tiny(own)["data"], cache, 0, "flowers")
    test = summary[summary["role"] == "test"]
    assert test["repeated"].sum() == test["images"].sum()
    assert summary["contradicted"].sum() == 3  # the copy, and its model in both parts
    (same,) = twice.loc[twice["file"] == f"{other.name}/copied.png", "same"]
    found = twice.loc[twice["same"] == same, ["role", "class", "file"]].to_numpy().tolist()
    assert found == [
        ["test", name, f"{name}/{model.name}"],
        ["train", name, f"{name}/{model.name}"],
        ["train", other.name, f"{other.name}/copied.png"],
    ]


def counted(**changed):
    rows = {"data_set": "a", "class": ["x", "y"] * 2, "role": ["train"] * 2 + ["test"] * 2,
            "images": [40, 40, 10, 10], "repeated": 0, "contradicted": 0}  # fmt: skip
    return pd.DataFrame(rows | changed)


def test_images_with_maps_are_the_first_of_each_class_by_number():
    labels = torch.tensor([2, 2, -1, 0, 1, 0, 2])
    assert in_turn(labels).tolist() == [3, 4, 0, 5, 1, 6]


def test_maps_of_classifiers_name_what_a_picture_shows_and_what_a_network_says(experiment):
    right = experiment.classifier(experiment.encoder())
    wrong = experiment.classifier(experiment.encoder())
    with torch.no_grad():
        for made, label in ((right, 0), (wrong, 1)):
            made.head.bias[label] = 9.0
    drawn = panel("garden", {"a": (experiment, right), "b": (experiment, wrong)}, 1)
    assert [list(one) for one in drawn.truth] == [["daisy"]]
    assert drawn.said == {"a": ["daisy"], "b": ["rose"]}
    assert drawn.overlays["a"].shape == (1, 3, 128, 128)
    shown = maps_figure([drawn, drawn])
    words = [ax.get_xlabel() for ax in shown.axes if ax.get_xlabel()]
    assert words == ["daisy", "says rose"] * 2


def test_weights_of_the_user_are_a_start(garden, cache, tmp_path, experiment):
    encoder = experiment.encoder()
    with torch.no_grad():
        for parameter in encoder.parameters():
            parameter.add_(1)
    torch.save(encoder.state_dict(), tmp_path / "own.pt")
    settings = tiny(garden, weights=str(tmp_path / "own.pt"))
    started = RealExperiment("garden", settings, cache, 0, 0).started("given")
    for name, value in encoder.state_dict().items():
        assert torch.equal(started.state_dict()[name], value)


def test_random_features_tell_what_a_line_through_pixels_cannot(tmp_path, cache):
    """Dark and bright pictures are one class, those in between the other."""
    root = grow(tmp_path / "levels", {"between": 128, "far": 40}, 60)
    for number in range(0, 60, 2):
        picture((2, number), 216).save(root / "far" / f"{number}.png")
    settings = tiny(root, label_fractions=[0.5, 1.0])
    job = job_of(settings, results=cache, params=SimpleNamespace(cache="images"))
    job.wildcards = SimpleNamespace(image_set="levels", replicate="0")
    state = torch.get_rng_state()
    made = measure(job)["baselines"]
    assert torch.equal(state, torch.get_rng_state())  # a job draws from streams of its seed alone
    found = made.pivot_table(index="labels", columns="baseline", values="value")
    rows = RealExperiment("levels", settings, cache / "images", 0, 0).labelled_rows
    assert sorted(found.index) == sorted(len(own) for own in rows.values())
    most = found.loc[found.index.max()]
    assert most[FEATURES] > 0.9
    assert most[PIXELS] < 0.8
