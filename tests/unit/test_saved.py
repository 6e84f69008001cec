"""Weights say which network they are of: what comes back, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from PIL import Image

import featlearn
from featlearn.core.errors import FeatlearnError
from featlearn.core.files import Described, digest, read_tensors, write_tensors
from featlearn.core.seeds import seeded
from featlearn.images.augment import Augment
from featlearn.images.classifier import Classifier
from featlearn.images.draws import Draws
from featlearn.images.encoders import SmallResNet, build_encoder
from featlearn.images.features import extract
from featlearn.images.saved import described
from featlearn.images.weights import load_weights
from unit.test_image_encoders import EVERY

NORMAL = Augment({"preset": "none", "mean": [0.5, 0.4, 0.3], "std": [0.2, 0.3, 0.4]})
SMALL = {"kind": "small_resnet", "widths": [4, 8], "stem_stride": 2}


def encoder(settings=SMALL, size=32):
    with seeded(0, "saved"):
        return build_encoder(settings, size)


def pixels(count=3, size=32):
    values = torch.Generator().manual_seed(0)
    return torch.randint(256, (count, 3, size, size), generator=values, dtype=torch.uint8)


@pytest.mark.parametrize("settings", EVERY)
def test_an_encoder_comes_back_with_its_features(settings, tmp_path):
    made = encoder(settings)
    write_tensors(described(made, NORMAL, "simmim", {}), tmp_path / "w.safetensors")
    again = featlearn.load(tmp_path / "w.safetensors")
    assert again.about["encoder"]["kind"] == settings["kind"]
    expected = extract(made, pixels(), NORMAL)
    torch.testing.assert_close(again.features(pixels()), expected, rtol=1e-3, atol=1e-4)
    with pytest.raises(FeatlearnError, match="trained by simmim has no classes"):
        again(pixels())


@pytest.mark.parametrize("several", [False, True])
def test_a_classifier_comes_back_with_its_classes_and_looks_at_files(several, tmp_path):
    made = Classifier(encoder(), 3, several=several, head_std=0.5)
    weights = described(made, NORMAL, "fine-tuned", {}, ["cat", "dog", "owl"])
    write_tensors(weights, tmp_path / "w.safetensors")
    again = featlearn.load(tmp_path / "w.safetensors")
    assert again.classes == ("cat", "dog", "owl")
    assert not again.training
    scores = made.eval().scores(NORMAL(pixels(), Draws(("x",), 0, 3)))
    expected = scores.sigmoid() if several else scores.softmax(1)
    torch.testing.assert_close(again(pixels()), expected.detach(), rtol=1e-5, atol=1e-6)
    wide = np.zeros((32, 56, 3), np.uint8)
    wide[:, 12:44] = np.asarray(pixels(1)[0].permute(1, 2, 0))
    Image.fromarray(wide).save(tmp_path / "wide.png")
    Image.fromarray(wide[:, 12:44]).save(tmp_path / "square.png")
    found = again([tmp_path / "wide.png", tmp_path / "square.png"])
    torch.testing.assert_close(found[0], found[1])


def test_other_pixels_and_no_pictures_are_refused_by_name(tmp_path):
    write_tensors(described(encoder(), NORMAL, "x", {}), tmp_path / "w.safetensors")
    network = featlearn.load(tmp_path / "w.safetensors")
    for wrong in (pixels(size=16), pixels().float()):
        with pytest.raises(
            FeatlearnError, match=r"expected uint8 pixels \(N, 3, 32, 32\), or files"
        ):
            network.features(wrong)
    (tmp_path / "no.png").write_text("no picture")
    with pytest.raises(FeatlearnError, match="not an image"):
        network.features([tmp_path / "no.png"])


def test_weights_of_another_encoder_are_refused_though_every_tensor_fits(tmp_path):
    write_tensors(described(encoder(), NORMAL, "x", {}), tmp_path / "w.safetensors")
    other = encoder(SMALL | {"stem_stride": 1})
    before = [value.clone() for value in other.state_dict().values()]
    with pytest.raises(FeatlearnError, match="stem_stride 2 in the file, 1 here"):
        load_weights(other, tmp_path / "w.safetensors")
    assert all(map(torch.equal, before, other.state_dict().values()))
    assert load_weights(encoder(), tmp_path / "w.safetensors").ignored == ()
    by_hand = SmallResNet(widths=[4, 8], stem_stride=2)  # says nothing of itself
    assert load_weights(by_hand, tmp_path / "w.safetensors").ignored == ()


def test_what_says_nothing_or_lies_is_not_loaded(tmp_path):
    made = encoder()
    write_tensors(made.state_dict(), tmp_path / "bare.safetensors")
    with pytest.raises(FeatlearnError, match="does not say which network it is of"):
        featlearn.load(tmp_path / "bare.safetensors")
    about = described(made, NORMAL, "x", {}).about
    tensors = {name: value for name, value in made.state_dict().items() if "bn1" not in name}
    write_tensors(Described(tensors, **about), tmp_path / "cut.safetensors")
    with pytest.raises(FeatlearnError, match="are not those of its header"):
        featlearn.load(tmp_path / "cut.safetensors")
    (tmp_path / "torn.safetensors").write_bytes((tmp_path / "bare.safetensors").read_bytes()[:99])
    with pytest.raises(FeatlearnError, match="cannot be read"):
        featlearn.load(tmp_path / "torn.safetensors")


def test_a_header_has_the_same_bytes_each_time(tmp_path):
    for name in ("a", "b"):
        write_tensors(described(encoder(), NORMAL, "x", {"q": 1, "a": 2}), tmp_path / name)
    assert digest(tmp_path / "a") == digest(tmp_path / "b")
    assert read_tensors(tmp_path / "a").about["version"] == featlearn.__version__
