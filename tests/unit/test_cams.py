"""Maps and erasures against classifiers that use parts which are known by construction."""

import pytest
import torch
from torch import nn
from torch.nn.functional import avg_pool2d

from featlearn.images.encoders.base import Encoder
from featlearn.images.rng import Draws
from featlearn.images.train.classifier import Classifier
from featlearn.mrp.images.cams import (
    Effects,
    agreement_values,
    effect_values,
    effects,
    erasures_of_tests,
    finer,
    look,
    measured,
    trained_classifier,
)
from featlearn.mrp.images.experiment import PictureExperiment

CONFIG = {
    # nothing but the parts of the class, each always the same, on a flat background
    "world": {
        "classes": 3,
        "image_size": 24,
        "part_size": 8,
        "part_kinds": ["both"],
        "rotation": 0,
        "scaling": 0,
        "sparsity": 0,
        "background": 0,
        "noise": 0,
        "placement": "cells",
        "main_strength": [1.0, 1.0],
    },
    "samples": {"train": 12, "test": 30},
    "encoders": {"cnn": {"kind": "small_resnet", "small_resnet": {"widths": [4, 8]}}},
    "augmentation": {"preset": "none"},
}


class Detector(Encoder):
    """One channel a class: near 1 where one of the given parts of the class is, else 0.

    One less the squared distance of the pixels from those of the part, weighted by its coverage.
    """

    cam_layer = "gate"

    def __init__(self, experiment, views):
        super().__init__()
        chosen = experiment.world.parts_of_class[:, views].flatten()
        stamps = experiment.world.stamps.pixels[chosen, 0].permute(0, 3, 1, 2)
        self.cover = stamps[:, 3:].expand(-1, 3, -1, -1)
        self.pixels = stamps[:, :3] + 0.5 * (1 - self.cover)  # on the grey background
        self.gate = nn.Threshold(0.8, 0.0)
        self.width, self.views = len(experiment.world.parts_of_class), len(views)
        self.plain = experiment.plain

    def stem(self, images):
        return self.plain.denormalise(images).float() / 255

    def body(self, stem):
        side = self.cover.shape[-1]
        padded = nn.functional.pad(stem, (0, side - 1, 0, side - 1), value=0.5)
        convolve = nn.functional.conv2d
        weighted = self.cover * self.pixels
        constant = (weighted * self.pixels).sum((1, 2, 3))[:, None, None]
        apart = convolve(padded.square(), self.cover) - 2 * convolve(padded, weighted) + constant
        found = (1 - apart).unflatten(1, (self.width, self.views)).amax(2)
        # the window's corner lies at the part's corner: its middle is half a side further
        middle = torch.roll(found, (side // 2, side // 2), (2, 3))
        return self.gate(nn.functional.max_pool2d(middle, 7, 1, 3))  # as wide as a part

    def block_maps(self, stem):
        return [self.body(stem)]


def classifier_using(experiment, *views):
    encoder = Detector(experiment, list(views))
    classifier = Classifier(encoder, encoder.width)
    with torch.no_grad():
        classifier.head.weight.copy_(1e3 * torch.eye(encoder.width))
        # a network that sees none of its parts says class 1, by a little
        classifier.head.bias.copy_(torch.tensor([0.1, 0.0, 0.0]))
    return classifier


@pytest.fixture(scope="module")
def experiment():
    return PictureExperiment("cam-test", CONFIG, 0, 0)


@pytest.fixture(scope="module")
def tests(experiment):
    return erasures_of_tests(experiment, 30)


def values(frame, test_set):
    return frame[frame["test_set"] == test_set].set_index("quantity")["value"]


@pytest.mark.parametrize("view", [0, 1])
def test_a_model_of_one_part_is_found_to_use_this_part_alone(experiment, tests, view):
    found = measured(experiment, classifier_using(experiment, view), tests)
    multi = values(found, "multi_view")
    assert multi["accuracy"] == multi["hits"] == multi["matched"] == 1
    assert multi["all_hit"] == 0
    assert multi["robust"] < 0.5  # class 1 is what it says without any part
    assert multi["rank_correlation"] > 0.8
    shown = [values(found, f"single_view_{one + 1}") for one in range(2)]
    assert shown[view]["accuracy"] == 1
    assert shown[1 - view]["accuracy"] < 0.6
    assert shown[view]["hits"] == 1


def test_a_model_of_both_parts_stands_the_loss_of_either(experiment, tests):
    found = measured(experiment, classifier_using(experiment, 0, 1), tests)
    multi = values(found, "multi_view")
    assert multi["hits"] == 2
    assert multi["all_hit"] == multi["robust"] == 1
    assert multi["flipped"] == 0
    assert multi["entropy"] > 0.9
    assert multi["accuracy_without_parts"] < 0.6
    for view in (1, 2):
        assert values(found, f"single_view_{view}")["accuracy"] == 1


def test_a_look_gives_the_scores_of_the_plain_pass(experiment):
    classifier = Classifier(experiment.encoder("cnn"), 3).eval()
    nn.init.normal_(classifier.head.weight)
    images = experiment.test[0].images
    seen = look(experiment, classifier, images)
    inputs = experiment.plain(images, Draws(("test",), 0, len(images)))
    with torch.no_grad():
        torch.testing.assert_close(seen.scores, classifier.scores(inputs))
    assert seen.heat.shape == (30, 24, 24)
    assert 0 <= float(seen.heat.min()) <= float(seen.heat.max()) <= 1


@pytest.mark.parametrize("times", [1, 2, 4])
def test_finer_maps_lie_where_they_say(times):
    """A layer that takes the mean over its cell, of pictures that hold each pixel's place."""
    places = torch.arange(32.0).expand(1, 1, 32, 32)
    cell = 8 // times
    for inputs, across in ((places, 3), (places.mT, 2)):
        maps = finer(lambda images: avg_pool2d(images, 8), inputs, 8, times)
        assert maps.shape == (1, 1, 4 * times, 4 * times)
        found = maps.movedim(across, 0).flatten(1).mean(1)
        # away from the edge, where what is mirrored enters
        inner = slice(times // 2, 4 * times - times // 2)
        middle = torch.arange(4.0 * times) * cell + (cell - 1) / 2
        torch.testing.assert_close(found[inner], middle[inner])


def test_effects_of_planted_scores():
    whole = torch.tensor([[2.0, 0.0, 1.0], [0.0, 3.0, 0.0], [1.0, 0.0, 0.0]])
    labels = torch.tensor([0, 1, 1])
    without = torch.stack([whole.clone(), whole.clone()])
    without[0, 0] = torch.tensor([0.5, 0.0, 1.0])  # flips picture 0
    without[1, 1] = torch.tensor([0.0, 1.0, 0.0])  # hurts picture 1, which stays right
    done = effects(whole, without, labels)
    assert done.right.tolist() == [True, True, False]
    assert done.flipped.tolist() == [[True, False], [False, False], [False, False]]
    assert done.margin_drop.tolist() == [[1.5, 0.0], [0.0, 2.0], [0.0, 0.0]]
    assert done.drop[0, 0] == pytest.approx(
        float(whole[0].softmax(0)[0] - without[0, 0].softmax(0)[0])
    )
    told = effect_values(done)
    assert told["flipped"] == pytest.approx(0.25)  # one of two parts of one of two right ones
    assert told["robust"] == pytest.approx(0.5)
    assert told["accuracy"] == pytest.approx(2 / 3)
    nothing = torch.zeros(2, 2)
    told = effect_values(Effects(nothing, nothing, nothing.bool(), torch.zeros(2).bool()))
    assert told["flipped"] == told["robust"] == 0  # no prediction is right


def test_agreement_of_maps_that_know_and_of_maps_that_do_not():
    hurting = torch.tensor([[1.0, 0.0], [0.1, 0.9], [0.7, 0.2], [0.3, 0.4]])
    labels = torch.zeros(4, dtype=torch.long)
    knows = agreement_values(hurting * 3, hurting, labels)
    assert knows["matched"] == knows["rank_correlation"] == 1
    assert knows["matched_by_class"] == 0.5  # each part is the hottest half of the time
    against = agreement_values(-hurting, hurting, labels)
    assert against["matched"] == 0
    assert against["rank_correlation"] == -1
    same = agreement_values(torch.ones(4, 2), hurting, labels)
    assert same["matched"] == same["matched_by_class"] == 0.5  # the first part of equals
    assert same["rank_correlation"] == 0
    assert agreement_values(hurting[:, :1], hurting[:, :1], labels) == {}


def test_a_classifier_is_read_from_the_weights_of_its_number_of_labels(experiment):
    wanted = Classifier(experiment.encoder("cnn"), 3)
    nn.init.normal_(wanted.head.weight)
    other = Classifier(experiment.encoder("cnn"), 3)
    tensors = {f"24/{name}": value for name, value in wanted.state_dict().items()}
    tensors |= {f"6/{name}": value for name, value in other.state_dict().items()}
    made = trained_classifier(experiment, "cnn", tensors, 24)
    for name, value in made.state_dict().items():
        assert torch.equal(value, wanted.state_dict()[name])
    with pytest.raises(KeyError, match=r"12 labels.*\[6, 24\]"):
        trained_classifier(experiment, "cnn", tensors, 12)
