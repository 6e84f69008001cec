"""Supervised training, fine-tuning, features and accuracies, on a tiny encoder."""

import math

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from featlearn.core.errors import ConfigError, FeatlearnError
from featlearn.images.encoders import build_encoder
from featlearn.images.rng import Draws
from featlearn.images.train.classifier import Classifier
from featlearn.images.train.features import extract
from featlearn.images.train.loop import fit
from unit.test_detection import plain

CLASSES = 3


def classifier(*, head: float = 0.0, **settings: object) -> Classifier:
    torch.manual_seed(0)
    encoder = build_encoder({"kind": "small_resnet", "widths": [4, 8]}, 8)
    made = Classifier(encoder, CLASSES, **settings)
    nn.init.normal_(made.head.weight, std=head)
    return made


def coloured(images: int) -> tuple[Tensor, Tensor]:
    stream = torch.Generator().manual_seed(0)
    pixels = torch.randint(0, 120, (images, 3, 8, 8), generator=stream)
    labels = torch.arange(images) % CLASSES
    pixels[torch.arange(images), labels] += 100
    return pixels.to(torch.uint8), labels


def draws(size: int) -> Draws:
    return Draws((0, "test"), 0, size)


def test_label_smoothing_spreads_the_target_and_settings_without_sense_are_named():
    x, y = torch.randn(6, 3, 8, 8), torch.arange(6) % CLASSES
    at_once = classifier()(x, y, draws(6))["loss"].item()
    assert at_once == pytest.approx(math.log(CLASSES)), "of a head of zeros"
    ours = classifier(head=1.0, label_smoothing=0.2).eval()
    log_p = ours.scores(x).log_softmax(1)
    own, all_ = -log_p.gather(1, y[:, None]).mean().item(), -log_p.mean().item()
    assert ours(x, y, draws(6))["loss"].item() == pytest.approx(0.8 * own + 0.2 * all_)
    with pytest.raises(ConfigError, match=r"finetuning.label_smoothing: 1.0; expected in"):
        classifier(label_smoothing=1.0)


def test_several_labels_leave_out_what_does_not_count():
    x = torch.randn(2, 3, 8, 8)
    y = torch.tensor([[1, 0, -1], [0, -1, 1]])
    ours = classifier(several=True, head=1.0).eval()
    p = ours.scores(x).sigmoid()
    expected = -(p[0, 0].log() + (1 - p[0, 1]).log() + (1 - p[1, 0]).log() + p[1, 2].log()) / 2
    assert ours(x, y, draws(2))["loss"].item() == pytest.approx(expected.item(), rel=1e-5)


SETTINGS = {"steps": 25, "batch_size": 24, "learning_rate": 0.02, "record_every": 5}


def test_it_learns():
    history = fit(classifier(), *coloured(96), plain, SETTINGS, (0, "test"))
    assert history["accuracy"].iloc[-1] > 0.95


def test_features_do_not_depend_on_the_batch_and_the_mode_comes_back(tmp_path):
    images, _ = coloured(10)
    path = tmp_path / "images.bin"
    images.numpy().tofile(path)
    mapped = torch.from_numpy(np.memmap(path, np.uint8, "r+", shape=tuple(images.shape)))
    encoder = classifier().encoder.train()
    statistics = encoder.bn1.running_mean.clone()
    whole, parts = (extract(encoder, mapped, plain, batch=size) for size in (10, 4))
    assert whole.shape == (10, encoder.width)
    torch.testing.assert_close(whole, parts)
    assert encoder.training
    assert encoder.bn1.training
    assert torch.equal(encoder.bn1.running_mean, statistics)


def test_an_output_that_is_not_finite_is_named():
    class Broken(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return 1 / x.mean((2, 3))

    images = torch.full((3, 3, 8, 8), 100, dtype=torch.uint8)
    images[1] = 128
    with pytest.raises(FeatlearnError, match="Broken: its output for image 1 of 3 is not finite"):
        extract(Broken(), images, plain)
