"""Augmentation: torchvision's pixels at the same parameters, and the same ones in any split."""

import math

import pytest
import torch
import torchvision.transforms.functional as reference
from torchvision.transforms import InterpolationMode

from featlearn.core.errors import ConfigError
from featlearn.images import pixel_operations as ops
from featlearn.images.augment import (
    ATTEMPTS,
    Augment,
    PadCrop,
    RandomErasing,
    RandomResizedCrop,
    channel_statistics,
    pixel_noise,
)
from featlearn.images.config_data import PRESETS, augmentation_faults
from featlearn.images.rng import Draws

ROUNDING = 2e-6


def images(count=6, size=16, seed=0) -> torch.Tensor:
    stream = torch.Generator().manual_seed(seed)
    small = torch.rand(count, 3, 5, 5, generator=stream)
    smooth = torch.nn.functional.interpolate(small, size=(size, size), mode="bicubic")
    return (smooth + 0.05 * torch.rand(smooth.shape, generator=stream)).clamp(0, 1)


def levels(count=6, size=16, seed=0) -> torch.Tensor:
    return (images(count, size, seed) * 255).round().to(torch.uint8)


def draws(count: int, step=0, rows=None) -> Draws:
    return Draws((0, "augment-test"), step, count, rows)


def one_by_one(function, batch, values) -> torch.Tensor:
    return torch.stack([function(image, value) for image, value in zip(batch, values, strict=True)])


@pytest.mark.parametrize(("ours", "theirs", "values"), [
    (ops.brightness, reference.adjust_brightness, [0.0, 0.3, 1.0, 1.4, 1.8, 0.9]),
    (ops.contrast, reference.adjust_contrast, [0.0, 0.3, 1.0, 1.4, 1.8, 0.9]),
    (ops.saturation, reference.adjust_saturation, [0.0, 0.3, 1.0, 1.4, 1.8, 0.9]),
    (ops.hue, reference.adjust_hue, [-0.5, -0.2, 0.0, 0.1, 0.33, 0.5]),
])  # fmt: skip
def test_colours_are_torchvisions(ours, theirs, values):
    pure = torch.tensor([[1, 0, 0], [0, 1, 0], [0, 0, 1], [0.5, 0.5, 0.5], [0, 0, 0], [1, 1, 0.0]])
    batch = torch.cat([images(), pure[:, :, None, None].expand(-1, -1, 16, 16)])
    values = [*values, *values]
    expected = one_by_one(theirs, batch, values)
    torch.testing.assert_close(ours(batch, torch.tensor(values)), expected, atol=1e-5, rtol=0)


@pytest.mark.parametrize("size", [8, 16, 24])
@pytest.mark.parametrize("interpolation", ["bilinear", "bicubic"])
def test_a_resized_crop_is_torchvisions(size, interpolation):
    batch = images()
    boxes = torch.tensor(
        [[0, 0, 16, 16], [2, 3, 5, 9], [0, 7, 16, 9], [5, 5, 1, 1], [3, 0, 13, 4], [8, 8, 8, 8]]
    )
    mode = InterpolationMode(interpolation)
    each = [reference.resized_crop(image, *box.tolist(), [size, size], mode, antialias=True)
            for image, box in zip(batch, boxes, strict=True)]  # fmt: skip
    expected = torch.stack(each).clamp(0, 1)
    got = ops.resized_crop(batch, boxes, size, interpolation)
    torch.testing.assert_close(got, expected, atol=2e-5, rtol=0)


@pytest.mark.parametrize("taps", [3, 5, 9])
def test_blur_is_torchvisions(taps):
    batch, sigma = images(), [0.1, 0.3, 0.7, 1.0, 1.5, 2.0]
    expected = one_by_one(lambda x, s: reference.gaussian_blur(x, [taps, taps], [s]), batch, sigma)
    got = ops.gaussian_blur(batch, torch.tensor(sigma), taps)
    torch.testing.assert_close(got, expected, atol=ROUNDING, rtol=0)


def test_windows_of_pad_and_crop_are_those_of_torch():
    batch = levels(40, 8)
    top, left = torch.arange(40) % 5, torch.arange(40) // 8
    padded = torch.nn.functional.pad(batch, (2,) * 4)
    got = ops.shifted_windows(padded, top, left, 8)
    for row in range(40):
        t, x = int(top[row]), int(left[row])
        assert got[row].equal(padded[row, :, t : t + 8, x : x + 8])
    batch = levels(4, 8)
    padded = torch.nn.functional.pad(batch, (3,) * 4)
    assert PadCrop(padding=3)(batch, draws(4), "x", 14).equal(padded)


def test_pad_and_crop_reaches_every_place_alike():
    mark = torch.zeros(4000, 3, 8, 8, dtype=torch.uint8)
    mark[:, :, 4, 4] = 1
    cropped = PadCrop(padding=1)(mark, draws(4000), "x", 8)
    places = cropped[:, 0].flatten(1).argmax(1).bincount()
    counts = places[places > 0]
    assert len(counts) == 9
    assert (counts - 4000 / 9).abs().max() < 5 * math.sqrt(4000 / 9)


def test_the_windows_of_a_random_resized_crop_are_torchvisions_in_distribution():
    from torchvision.transforms import RandomResizedCrop as Theirs

    step = RandomResizedCrop((0.2, 0.9), (0.5, 2.0))
    count = 4000
    boxes = step.boxes(draws(count).uniform("x", ATTEMPTS, 4), 20, 30).double()
    torch.manual_seed(0)
    blank = torch.zeros(3, 20, 30)
    theirs = torch.tensor(
        [Theirs.get_params(blank, [0.2, 0.9], [0.5, 2.0]) for _ in range(count)]
    ).double()
    for column in range(4):
        error = 5 * theirs[:, column].std() * math.sqrt(2 / count)
        assert abs(boxes[:, column].mean() - theirs[:, column].mean()) < error
        assert abs(boxes[:, column].std() - theirs[:, column].std()) < error


def test_where_no_window_fits_the_middle_is_taken():
    step = RandomResizedCrop((3.0, 3.0), (0.5, 2.0))
    boxes = step.boxes(draws(3).uniform("x", ATTEMPTS, 4), 10, 40)
    assert boxes.tolist() == [[0, 10, 10, 20]] * 3


def test_erasing_covers_its_box_and_nothing_else():
    batch = torch.full((50, 3, 16, 16), 9.0)
    step = RandomErasing(p=0.5)
    erased = step(batch.clone(), draws(50), "x", 16) != batch
    boxes = step.boxes(draws(50).uniform("x-box", ATTEMPTS, 4), 16, 16)
    chosen = draws(50).uniform("x") < 0.5
    for row in range(50):
        top, left, height, width = boxes[row].tolist()
        expected = torch.zeros(16, 16, dtype=torch.bool)
        expected[top : top + height, left : left + width] = bool(chosen[row])
        assert erased[row].equal(expected.expand(3, -1, -1))
    assert 0 < chosen.sum() < 50


def test_noise_of_pixels_is_standard_normal_and_differs_between_images():
    noise = pixel_noise(torch.arange(200), (3, 16, 16)).double()
    count = noise.numel()
    assert abs(noise.mean()) < 5 / math.sqrt(count)
    assert abs(noise.std() - 1) < 5 / math.sqrt(2 * count)
    assert abs((noise**4).mean() - 3) < 5 * math.sqrt(96 / count)
    flat = noise.flatten(1)
    between = (flat[0::2] * flat[1::2]).mean()
    assert abs(between) < 5 / math.sqrt(count / 2)
    assert abs((flat[:, 1:] * flat[:, :-1]).mean()) < 5 / math.sqrt(count)


def test_a_result_is_normalised_and_of_its_size():
    batch = levels(5)
    augment = Augment({"preset": "none", "mean": [0.1, 0.2, 0.3], "std": [0.5, 0.25, 1.0]})
    expected = reference.normalize(batch.float() / 255, [0.1, 0.2, 0.3], [0.5, 0.25, 1.0])
    got = augment(batch, draws(5))
    torch.testing.assert_close(got, expected, atol=ROUNDING, rtol=0)
    assert got.is_contiguous(memory_format=torch.channels_last)
    batch = levels(4, 24)
    crop = Augment({"steps": [{"op": "random_resized_crop"}], "size": 16})
    assert crop(batch, draws(4)).shape[-1] == 16
    middle = Augment({"preset": "none", "size": 20, "mean": [0] * 3, "std": [1] * 3})
    expected = batch[:, :, 2:22, 2:22].float() / 255
    torch.testing.assert_close(middle(batch, draws(4)), expected)
    with pytest.raises(ConfigError, match="size: 30; expected at most 24"):
        Augment({"preset": "none", "size": 30})(batch, draws(4))


@pytest.mark.parametrize("preset", [preset for preset in PRESETS if preset != "none"])
def test_steps_and_views_have_random_numbers_of_their_own(preset):
    batch = levels(16, 24)
    augment = Augment({"preset": preset})
    one, two = augment.two_views(batch, draws(16))
    assert not one.equal(two)
    assert one.equal(augment(batch, draws(16)))
    assert not augment(batch, draws(16, step=1)).equal(one)


def test_wrong_settings_are_named():
    with pytest.raises(ConfigError, match=r"augmentation\.steps\.0\.op: 'flop'"):
        Augment({"steps": [{"op": "flop"}]})
    settings = {"steps": [{"op": "flip"}, {"op": "blur", "sigma": [2, 1]}]}
    told = list(augmentation_faults(settings, "augmentation"))
    assert told == [
        "augmentation.steps.1.sigma must be two numbers above 0, the lower one first, got [2, 1]"
    ]
    for images_and_draws in ((images(), draws(6)), (levels(6), draws(5))):
        with pytest.raises(ValueError, match="expected"):
            Augment({"preset": "none"})(*images_and_draws)


def test_statistics_of_channels_are_those_of_the_pixels():
    batch = levels(600, 8)
    batch[:, 2] = 7
    found = channel_statistics(batch)
    unit = batch.double() / 255
    assert found["mean"] == pytest.approx(unit.mean((0, 2, 3)).tolist())
    expected = unit.std((0, 2, 3), correction=0).tolist()
    assert found["std"] == pytest.approx([*expected[:2], 1 / 255]), "one level where nothing varies"
    plain = Augment({"preset": "simclr", "size": 6, **found}).plain()
    seen = plain(batch, draws(600))
    assert seen.shape == (600, 3, 6, 6)
    torch.testing.assert_close(seen, plain.normalise(batch)[..., 1:7, 1:7])
