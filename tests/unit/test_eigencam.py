"""Eigen-CAM against singular value decompositions, its signs, and part use of its maps."""

import math

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import avg_pool2d

from featlearn.images.cam.eigencam import _signs, eigen_cam, heat, part_use, token_maps
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

#: (channels, height, width): fewer positions than channels, and more
SHAPES = [(64, 5, 4), (6, 9, 7), (12, 3, 4)]


def activations(shape, batch=5, seed=0, dtype=torch.float32) -> Tensor:
    drawn = torch.Generator().manual_seed(seed)
    normal = torch.randn(batch, *shape, generator=drawn, dtype=torch.float64)
    place = torch.randn(batch, 1, *shape[1:], generator=drawn, dtype=torch.float64)
    return torch.relu(normal + 2 * place).to(dtype)


def by_svd(x: Tensor) -> np.ndarray:
    maps = []
    for image in x.double().numpy():
        rows = image.reshape(len(image), -1).T
        rows = rows - rows.mean(0)
        maps.append((rows @ np.linalg.svd(rows)[2][0]).reshape(image.shape[1:]))
    return np.stack(maps)


def correlation(a, b) -> float:
    return float(np.corrcoef(np.ravel(a), np.ravel(b))[0, 1])


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_maps_are_those_of_a_singular_value_decomposition_up_to_sign(shape, dtype):
    x = activations(shape, dtype=dtype)
    maps = eigen_cam(x)
    assert maps.dtype == dtype
    for ours, theirs in zip(maps.numpy(), by_svd(x), strict=True):
        flipped = theirs * np.sign((ours * theirs).sum())
        np.testing.assert_allclose(ours, flipped, atol=2e-4 * np.abs(theirs).max())


def test_a_centred_map_does_not_see_what_all_positions_share():
    x = activations((64, 5, 4))
    shifted = x + 1e4 * torch.linspace(1, 2, 64)[:, None, None]
    for ours, theirs in zip(eigen_cam(shifted), eigen_cam(x), strict=True):
        assert abs(correlation(ours, theirs)) > 0.9999


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_sign_does_not_depend_on_that_of_a_library(dtype):
    x = activations((12, 5, 4), batch=20, dtype=torch.float64)
    theirs = torch.from_numpy(by_svd(x)).flatten(1).to(dtype)
    energy = x.square().sum(1).flatten(1).to(dtype)
    for flipped in (theirs, -theirs):
        fixed = flipped * _signs(flipped, energy)[:, None]
        for one, other in zip(fixed, eigen_cam(x), strict=True):
            assert correlation(one, other) > 0.999


@pytest.mark.parametrize("heights", [
    [1.0, -1, 1, -1],  # nothing but the last rule can tell the two signs apart
    [2.0, 1, 0, -1],
    [0.0, 0, 5, -5],
])  # fmt: skip
def test_a_map_that_is_its_own_negative_still_has_one_sign(heights):
    maps = torch.tensor([heights])
    energy = torch.ones(1, 4)
    fixed = maps * _signs(maps, energy)
    flipped = -maps * _signs(-maps, energy)
    assert torch.equal(fixed, flipped)
    assert fixed[0, fixed[0].abs().argmax()] > 0


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf")])
def test_an_image_with_activations_that_are_not_finite_has_no_map_and_harms_no_other(shape, bad):
    x = activations(shape)
    expected = eigen_cam(x)
    x[1, 2, 0, 1] = bad
    maps = eigen_cam(x)
    assert (maps[1] == 0).all()
    torch.testing.assert_close(maps[2:], expected[2:])
    assert maps.isfinite().all()


@pytest.mark.parametrize("shape", SHAPES)
def test_a_layer_that_is_the_same_everywhere_has_no_centred_map(shape):
    x = torch.rand(1, shape[0], 1, 1).expand(1, *shape) + 0.5
    assert (eigen_cam(x) == 0).all()
    assert (eigen_cam(torch.zeros(1, *shape)) == 0).all()


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("scale", [1e-30, 1e-18, 1e18, 1e30])
def test_tiny_and_huge_activations_have_the_same_map(shape, scale):
    x = activations(shape)
    maps = eigen_cam(x * scale)
    torch.testing.assert_close(maps / scale, eigen_cam(x), rtol=1e-3, atol=1e-4)


def test_close_eigenvalues_and_strong_positions_are_told_apart():
    x = torch.zeros(1, 40, 4, 4)
    x[0, 0, 0, :2], x[0, 1, 3, 2:] = torch.tensor([1, -1]), torch.tensor([-0.9995, 0.9995])
    maps = eigen_cam(x)[0]
    assert maps[0, 0] == pytest.approx(1, abs=1e-3)
    assert abs(maps[3, 3]) < 1e-3
    x, half = torch.zeros(2, 8, 6, 1), torch.tensor([2**0.5, 2**0.5])
    x[0, 0, :2, 0], x[0, 1, 2:, 0] = 3**0.5 * torch.tensor([1, -1]), torch.cat([half, -half])
    wide = torch.tensor([3.0, 2, 1, -3, -2, -1])  # found in a few steps, beside it
    x[1, 0, :, 0] = wide
    maps = eigen_cam(x)[..., 0]
    assert torch.allclose(maps[0], x[0, 1, :, 0], atol=1e-5)
    assert torch.allclose(maps[1], wide, atol=1e-5)


def test_reduced_precision_is_accepted_and_other_input_is_not():
    x = activations((64, 5, 4))
    for dtype in (torch.float16, torch.bfloat16):
        maps = eigen_cam(x.to(dtype))
        assert maps.dtype == torch.float32
        assert correlation(maps, eigen_cam(x)) > 0.999
    with pytest.raises(ValueError, match="expected floating-point"):
        eigen_cam(torch.zeros(1, 2, 3, 4, dtype=torch.int64))
    with pytest.raises(ValueError, match="expected floating-point"):
        eigen_cam(torch.zeros(2, 3, 4))


@pytest.mark.parametrize("leading", [0, 1, 2])
def test_tokens_are_laid_out_row_by_row(leading):
    tokens = torch.arange(2 * (leading + 6) * 3.0).reshape(2, leading + 6, 3)
    maps = token_maps(tokens, (2, 3), leading)
    assert maps.shape == (2, 3, 2, 3)
    assert torch.equal(maps[1, :, 1, 2], tokens[1, leading + 5])
    with pytest.raises(ValueError, match="expected 1 leading ones and 4 x 4"):
        token_maps(tokens, (4, 4))


def test_heat_fills_the_image_and_the_unit_interval():
    maps = torch.tensor([[[-1.0, 2], [0, 4]], [[-1, -2], [-3, -4]], [[3, 5], [4, 7]]])
    drawn = heat(maps, (8, 6))
    assert drawn.shape == (3, 8, 6)
    for one in drawn[::2]:
        assert (one.min(), one.max()) == (0, 1)
    assert (drawn[1] == 0).all()


def test_parts_are_hit_from_half_the_maximum_on_and_share_the_heat():
    """Three parts of 4, 4 and 2 pixels in a picture of 6 x 6; the third is absent in image 1."""
    masks = torch.zeros(2, 3, 6, 6, dtype=torch.bool)
    masks[:, 0, :2, :2] = True
    masks[:, 1, 4:, 4:] = True
    masks[0, 2, 0, 4:] = True
    use = part_use(3.0 * masks[:, 0] + 1.0 * masks[:, 1], masks)
    torch.testing.assert_close(use.share[:, :2], torch.tensor([[0.75, 0.25]] * 2))
    assert use.pointed.tolist() == [[True, False, False]] * 2
    entropy = -(0.75 * math.log(0.75) + 0.25 * math.log(0.25))
    assert use.entropy.tolist() == pytest.approx([entropy / math.log(3), entropy / math.log(2)])
    heat = 1.0 * masks[:, 0]
    assert part_use(heat + 0.5 * masks[:, 1], masks).hits.tolist() == [2, 2]
    assert part_use(heat + 0.49 * masks[:, 1], masks).hits.tolist() == [1, 1]
    beside = torch.zeros(2, 6, 6)
    beside[:, 3, 2] = 1
    use = part_use(beside, masks)
    assert use.hits.tolist() == [0, 0]
    assert not use.pointed.any()
    assert use.entropy.isnan().all()
    none = part_use(torch.zeros(2, 6, 6), masks)
    assert not none.pointed.any()
    assert not none.hits.any()
    even = part_use(torch.ones(2, 6, 6), masks)
    torch.testing.assert_close(even.density[1], torch.tensor([1.0, 1, 0]))
    for wrong in (torch.zeros(2, 5, 6), torch.full((2, 6, 6), -1.0)):
        with pytest.raises(ValueError, match=r"expected|no negative"):
            part_use(wrong, masks)


CONFIG = {
    # nothing but the parts of the class, each always the same, on a flat background
    "world": {
        "classes": 3, "image_size": 24, "part_size": 8, "part_kinds": ["both"],
        "placement": "cells", "main_strength": [1.0, 1.0],
        **dict.fromkeys(("rotation", "scaling", "sparsity", "background", "noise"), 0),
    },
    "samples": {"train": 12, "test": 30},
    "encoders": {"cnn": {"kind": "small_resnet", "small_resnet": {"widths": [4, 8]}}},
    "augmentation": {"preset": "none"},
}  # fmt: skip


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
        return images * self.plain.std[:, None, None] + self.plain.mean[:, None, None]

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
