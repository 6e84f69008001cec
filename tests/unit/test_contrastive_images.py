"""Figures 1 to 4: which trainings they need, what they share, and what is read off them."""

import copy

import numpy as np
import pandas as pd
import pytest
import torch

from featlearn.contrastive.analysis import images as analysis
from featlearn.contrastive.experiments.images import halfway, halfway_rows
from featlearn.contrastive.images.config import ARMS, START, ordered
from featlearn.contrastive.images.experiment import ImageExperiment, Measured, by_class
from featlearn.core.errors import FeatlearnError
from featlearn.core.evidence.claims import FAILS, HOLDS, NOT_SHOWN, declared, ledger
from featlearn.core.evidence.frames import tidy
from featlearn.core.run.config import load
from featlearn.images.data.on_disk import state_of
from featlearn.images.rng import Draws
from unit import ROOT


@pytest.fixture(scope="module")
def smoke():
    return load({"scale": "smoke"}, ROOT)["contrastive"]["images"]


@pytest.fixture
def section(smoke):
    return copy.deepcopy(smoke)


def experiment(settings, replicate=0, cache="none"):
    return ImageExperiment("shapes", settings, cache, 0, replicate, stream="images-validation")


def test_images_that_are_not_there_make_no_plan_impossible_but_a_job(tmp_path):
    gpu = load({"scale": "gpu"}, ROOT)["contrastive"]["images"]
    assert ordered(gpu) == ["shapes", "cifar10"]
    gpu["cifar10"]["real"]["path"] = str(tmp_path / "cifar10")
    assert state_of(gpu["cifar10"]["real"])[0] == ""
    absent = ImageExperiment("cifar10", gpu["cifar10"], tmp_path, 0, 0)
    with pytest.raises(FeatlearnError, match=r"contrastive.images.cifar10.real: .*cifar10"):
        _ = absent.images.train


def test_arms_share_images_start_and_order_and_replicates_do_not(section):
    settings = section["shapes"]
    first, again, other = (experiment(settings, r) for r in (0, 0, 1))
    assert torch.equal(first.images.train.images, again.images.train.images)
    assert not torch.equal(first.images.train.images, other.images.train.images)
    assert not torch.equal(first.images.train.images[:48], first.images.test.images)
    weights = [one.encoder("normed").state_dict() for one in (first, again, other)]
    starts = [one["first.conv.weight"] for one in weights]
    assert torch.equal(starts[0], starts[1])
    assert not torch.equal(starts[0], starts[2])


def test_views_are_what_the_arm_says(section):
    own = experiment(section["shapes"])
    images = own.images.train.images[:16]

    def changed(views):
        augment, draws = own.augment(views), Draws((0, "views"), 0, 16)
        pair = own.objective(f"contrastive-{views}", own.encoder("normed")).views(images, draws)
        std, mean = augment.std[:, None, None], augment.mean[:, None, None]
        colours = [(view * std + mean).double().mean((2, 3)) for view in pair]
        return [float((first - second).abs().max()) for first, second in (pair, colours)]

    assert changed("none") == [0, 0]
    crop, colour = changed("crop"), changed("colour")
    assert crop[0] > 0.5
    assert crop[1] < 0.08, "a crop changes the share of the glyph and no colour"
    assert colour[1] > 0.1


def test_what_is_measured_of_the_start_and_of_a_training(section):
    own = experiment(section["shapes"])
    start = Measured(own, "normed").rows().set_index(["quantity", "layer"])["value"]
    assert start["movement of filters", "first.conv"] == 0
    encoder, _, _ = own.fitted("normed", "supervised-crop")
    measured = Measured(own, "normed", encoder.state_dict())
    values = measured.rows().set_index(["quantity", "layer"])["value"]
    assert values["movement of filters", "first.conv"] > 0
    assert set(values.index) == set(start.index)
    shares = values.drop([key for key in values.index if key[0] == "movement of filters"])
    assert shares.between(-1, 1).all()
    patterns, pictures = measured.patterns(), measured.pictures()
    assert patterns["share"].between(0, 1).all()
    assert set(pictures["kind"]) == {"feature", "filter"}
    points = measured.map()["map"]
    assert len(points) == 40


def test_images_of_a_figure_and_the_last_crossing():
    labels = torch.tensor([2, 0, 1, 0, 2, 1, 0])
    assert by_class(labels, 6).tolist() == [1, 3, 2, 5, 0, 4]
    progress = np.linspace(0, 1, 5)
    assert halfway(progress, np.array([1, 0.75, 0.25, 0.1, 0])) == pytest.approx(0.375)
    assert halfway(progress, np.array([1, 0.4, 0.6, 0.4, 0])) == pytest.approx(0.625)


def planted(value=lambda arm, quantity: 0.5):
    """Evaluations of three replicates with values that are known."""
    quantities = [
        ("class accuracy", ""), ("colour explained", ""), ("chroma of pictures", "last"),
        ("chroma of filters", "first"), ("movement of filters", "first"),
        ("cosine under attack", ""), ("silhouette of the map", ""), ("purity of the map", ""),
        ("roughness of pictures", "last"),
        *(("firing rate", f"layer_{number}") for number in range(1, 6)),
    ]  # fmt: skip
    where, arms = {"data_set": ["shapes"], "encoder": ["normed"]}, (*ARMS, START)
    frames = [
        tidy(where | {"quantity": [quantity], "layer": [layer], "arm": arms, "replicate": range(3)},
             value=np.array([[value(arm, quantity)] for arm in arms]) + 1e-3 * np.arange(3))
        for quantity, layer in quantities
    ]  # fmt: skip
    progress = np.array([0.0, 0.5, 1.0])
    axes = where | {"arm": [*ARMS], "replicate": range(3), "progress": progress}
    traces = tidy(axes, distance=1 - progress)
    return pd.concat([*frames, halfway_rows(traces)], ignore_index=True)


def verdicts(section, value, made=True, **sizes):
    section["shapes"] |= sizes
    section["shapes"]["shapes"]["train"] = 4000
    if not made:
        photographs = {key: one for key, one in section["shapes"].items() if key != "shapes"}
        section = {"shapes": photographs | {"train_images": 4000}}
    section["shapes"]["contrastive"]["training"]["steps"] = 800
    found = ledger(declared(analysis, section), {"evaluations": planted(value)}, section)
    return dict(zip(found["claim"], found["verdict"], strict=True))


def test_claims_hold_and_fail_with_what_was_measured(section):
    def good(arm, quantity):
        full = arm in ("contrastive-colour", "adversarial-colour") or arm.startswith("supervised")
        if quantity in ("colour explained", "chroma of pictures", "chroma of filters"):
            return 0.5 if full else 0.95
        if quantity == "firing rate":
            return 0.3 if full else 0.6
        if quantity == "cosine under attack":
            return 0.9 if arm == "adversarial-colour" else 0.5
        return 0.8 if full else 0.2

    seen = verdicts(section, good, replicates=3)
    met = ("fig-1-shape", "fig-2-full-over-crop", "fig-2-crop-keeps-colour",
           "fig-2-full-loses-colour", "fig-3-purity-over-crop",
           "fig-4-sparser-every-layer")  # fmt: skip
    assert {seen[f"contrastive/shapes-{claim}"] for claim in met} == {HOLDS}
    missed = {
        "contrastive/shapes-fig-1-colour-of-supervised",
        "contrastive/shapes-slow-first-layer-colour",
    }
    assert {seen[claim] for claim in missed} == {NOT_SHOWN}, "made images refute no printed figure"
    seen = verdicts(section, good, made=False, replicates=3)
    assert {seen[claim] for claim in missed} == {FAILS}
    flat = verdicts(section, lambda arm, quantity: 0.5, made=False, replicates=3)
    assert flat["contrastive/shapes-fig-2-full-over-crop"] == FAILS
    few = verdicts(section, lambda arm, quantity: 0.5, replicates=1)
    assert few["contrastive/shapes-fig-2-full-over-crop"] == NOT_SHOWN
