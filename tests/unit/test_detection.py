"""Faster R-CNN on our encoders, and average precision on boxes with known values."""

import pytest
import torch
from torch import Tensor
from torchvision.ops import MultiScaleRoIAlign, roi_align

from featlearn.core.errors import ConfigError
from featlearn.images import detection
from featlearn.images.encoders import build_encoder
from featlearn.images.rng import Draws
from featlearn.images.train.loop import fit

SIZE = 32


def detector(kind: str = "small_resnet", **settings: object) -> detection.Detector:
    torch.manual_seed(0)
    options = {"widths": [16, 32]} if kind == "small_resnet" else {}
    encoder = build_encoder({"kind": kind, **options}, SIZE)
    return detection.Detector(encoder, 2, SIZE, roi_size=3, head_width=32, proposals=30, **settings)


def squares(images: int) -> tuple[Tensor, Tensor]:
    """One or two coloured squares on grey, class by colour; uint8 images and their targets."""
    stream = torch.Generator().manual_seed(0)
    pixels = torch.randint(90, 110, (images, 3, SIZE, SIZE), generator=stream)
    boxes, labels = torch.full((images, 2, 4), -1), torch.full((images, 2), -1)
    for i in range(images):
        for j in range(1 + i % 2):
            side, left, top = (int(torch.randint(*r, (), generator=stream)) for r in RANGES)
            x, y = left + 16 * j, top
            cls = (i + j) % 2
            pixels[i, :, y : y + side, x : x + side] = 0
            pixels[i, 2 * cls, y : y + side, x : x + side] = 250
            boxes[i, j] = torch.tensor([x, y, x + side, y + side])
            labels[i, j] = cls
    return pixels.to(torch.uint8), detection.pack_targets(boxes, labels)


RANGES = ((8, 13), (0, 4), (0, 20))


def plain(images: Tensor, draws: Draws) -> Tensor:
    return images.float() / 128 - 1


def found(boxes: list[list[float]], scores: list[float], labels: list[int]) -> dict[str, Tensor]:
    return {
        "boxes": torch.tensor(boxes).reshape(-1, 4),
        "scores": torch.tensor(scores),
        "labels": torch.tensor(labels, dtype=torch.int64),
    }


def one_object(images: int, label: int = 0) -> Tensor:
    boxes = torch.tensor([0.0, 0.0, 10.0, 10.0]).repeat(images, 1, 1)
    return detection.pack_targets(boxes, torch.full((images, 1), label))


def test_precision_counts_each_class_alike_and_no_difficult_object():
    # intersection over union 0.62: right at 0.5, 0.55 and 0.6, wrong at the other seven thresholds
    near = detection.detection_precision([found([[0, 0, 10, 6.2]], [0.9], [0])], one_object(1))
    assert near["ap50"] == pytest.approx(1)
    assert near["ap75"] == pytest.approx(0)
    assert near["ap"] == pytest.approx(0.3)
    seen = found([[20, 20, 30, 30], [0, 0, 10, 10]], [0.9, 0.8], [0, 0])
    value = detection.detection_precision([seen], one_object(1))["ap75"]
    assert value == pytest.approx(0.5)
    whole, nothing = found([[0, 0, 10, 10]], [0.9], [0]), found([], [], [])
    value = detection.detection_precision([whole, nothing], one_object(2))["ap50"]
    assert value == pytest.approx(51 / 101)  # precision 1 at the levels 0, 0.01, ..., 0.5
    boxes = torch.tensor([[[0.0, 0, 10, 10], [20, 20, 30, 30]]])
    targets = detection.pack_targets(boxes, torch.zeros(1, 2).long(), torch.tensor([[False, True]]))
    both = found([[20, 20, 30, 30], [0, 0, 10, 10]], [0.9, 0.8], [0, 0])
    assert detection.detection_precision([both], targets)["ap75"] == pytest.approx(1)
    one = found([[0, 0, 10, 10]], [0.8], [0])
    assert detection.detection_precision([one], targets)["ap75"] == pytest.approx(1)
    right, wrong = found([[0, 0, 10, 10]], [0.9], [0]), found([[0, 0, 10, 10]], [0.9], [0])
    targets = torch.cat([one_object(1, 0), one_object(1, 1)])
    # class 0: one right and one wrong with the same score, in that order; class 1: not found
    assert detection.detection_precision([right, wrong], targets)["ap50"] == pytest.approx(0.5)


def test_boxes_move_with_mirrored_pixels_and_an_empty_one_is_named():
    images = torch.zeros(2, 3, 10, 10)
    images[:, :, 2:5, 1:4] = 1
    targets = detection.pack_targets(torch.tensor([[[1, 2, 4, 5]]] * 2), torch.zeros(2, 1).long())
    moved, boxes = detection.flipped(images, targets, torch.tensor([True, False]))
    assert boxes[:, 0, :4].tolist() == [[6, 2, 9, 5], [1, 2, 4, 5]]
    assert moved[0, 0, 2:5, 6:9].sum() == 9
    assert torch.equal(moved[1], images[1])
    boxes = torch.tensor([[[0, 0, 4, 4], [3, 3, 3, 9]]])
    with pytest.raises(ValueError, match="object 1 of image 0 is empty"):
        detection.pack_targets(boxes, torch.zeros(1, 2).long())
    detection.pack_targets(boxes, torch.tensor([[0, -1]]))  # no object, so no matter


SETTINGS = {"steps": 120, "batch_size": 8, "learning_rate": 0.005, "warmup": 5, "record_every": 10}


def test_a_detector_learns_eight_scenes_by_heart():
    images, targets = squares(8)
    ours = detector(flip=False)
    history = fit(ours, images, targets, plain, SETTINGS, (0, "test"))
    assert history["loss"].iloc[-1] < 0.5 * history["loss"].iloc[0]
    precision = detection.detection_precision(detection.detect(ours, images, plain), targets)
    assert precision["ap50"] > 0.95
    assert precision["ap75"] > 0.7


def test_a_training_repeats_itself_with_deterministic_algorithms():
    images, targets = squares(8)
    before = torch.are_deterministic_algorithms_enabled()
    torch.use_deterministic_algorithms(True)
    try:
        states = []
        for _ in range(2):
            ours = detector(pyramid=True)
            torch.rand(len(states))  # PyTorch's own stream is elsewhere by now
            fit(ours, images, targets, plain, SETTINGS | {"steps": 4}, (0, "test"))
            states.append(ours.state_dict())
    finally:
        torch.use_deterministic_algorithms(before)
    assert all(torch.equal(states[0][name], states[1][name]) for name in states[0])


def test_frozen_norms_keep_what_they_came_with():
    images, targets = squares(4)
    ours = detector(frozen_norms=True)
    before = {name: value.clone() for name, value in ours.encoder.bn1.state_dict().items()}
    fit(ours, images, targets, plain, SETTINGS | {"steps": 2}, (0, "test"))
    assert all(torch.equal(v, before[name]) for name, v in ours.encoder.bn1.state_dict().items())


def test_a_pyramid_needs_stages():
    with pytest.raises(ConfigError, match="pyramid: true; expected a residual network"):
        detector("vit_tiny", pyramid=True)
    assert detector("vit_tiny")._run(torch.zeros(1, 3, SIZE, SIZE), [EMPTY])[1]


EMPTY = {"boxes": torch.zeros(0, 4), "labels": torch.zeros(0, dtype=torch.int64)}


PIXELS = 64


def regions(count: int, seed: int = 0) -> torch.Tensor:
    """Boxes of all sizes, some of them partly or wholly outside the image."""
    own = torch.Generator().manual_seed(seed)
    corner = torch.rand(count, 2, generator=own, dtype=torch.float64) * 100 - 20
    side = torch.rand(count, 2, generator=own, dtype=torch.float64) ** 2 * 70
    return torch.cat([corner, corner + side], 1)


@pytest.mark.parametrize("shape", [(8, 8), (4, 16), (1, 5)])
@pytest.mark.parametrize(("size", "points"), [(5, 2), (7, 1), (2, 3)])
def test_values_and_gradients_are_those_of_torchvision(shape, size, points):
    own = torch.Generator().manual_seed(1)
    maps = torch.randn(3, 6, *shape, generator=own, dtype=torch.float64, requires_grad=True)
    boxes = [regions(20), regions(0), regions(7, seed=2)]
    found = detection.pool(maps, boxes, size, 1 / 8, points)
    expected = roi_align(maps, boxes, size, 1 / 8, points)
    torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-12)
    weight = torch.randn(expected.shape, generator=own, dtype=torch.float64)
    (gradient,) = torch.autograd.grad((found * weight).sum(), maps)
    (wanted,) = torch.autograd.grad((expected * weight).sum(), maps)
    torch.testing.assert_close(gradient, wanted, rtol=1e-10, atol=1e-10)
    assert (expected == 0).flatten(1).all(1).any()  # some region lies outside


@pytest.mark.parametrize("side", [8, 2 * int(detection.MOST_CELLS**0.5)])
def test_a_single_map_of_any_size_is_pooled_as_in_torchvision(side):
    maps = {"last": torch.randn(2, 4, side, side, generator=torch.Generator().manual_seed(3))}
    boxes = [regions(5).float(), regions(3, seed=4).float()]
    sizes = [(PIXELS, PIXELS)] * 2
    found, expected = (
        kind(["last"], 5, sampling_ratio=2)(maps, boxes, sizes)
        for kind in (detection.RegionPooling, MultiScaleRoIAlign)
    )
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)


def test_places_stay_exact_where_the_network_computes_in_bfloat16():
    maps = torch.randn(1, 4, 8, 8, generator=torch.Generator().manual_seed(6)).bfloat16()
    boxes = [regions(40).float()]
    with torch.autocast("cpu", torch.bfloat16):
        found = detection.pool(maps, boxes, 5, 1 / 8, 2)
    assert found.dtype == torch.bfloat16
    assert torch.equal(found, detection.pool(maps.float(), boxes, 5, 1 / 8, 2).bfloat16())
