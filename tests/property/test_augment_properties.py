"""Augmentation for arbitrary sizes, seeds and splits of the batch."""

from itertools import pairwise

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from featlearn.images.augment import ATTEMPTS, Augment, RandomResizedCrop
from featlearn.images.config_data import PRESETS
from featlearn.images.data.datasets import fraction_rows, split_rows
from featlearn.images.pixel_operations import window_weights
from featlearn.images.rng import Draws

LABELS = st.lists(st.integers(0, 4), min_size=30, max_size=200).map(torch.tensor)


@pytest.mark.parametrize("preset", PRESETS)
@settings(max_examples=10)
@given(
    size=st.integers(8, 40), count=st.integers(1, 9), cut=st.integers(0, 9), seed=st.integers(0, 99)
)
def test_a_split_batch_is_augmented_as_a_whole_one_and_left_alone(preset, size, count, cut, seed):
    stream = torch.Generator().manual_seed(seed)
    batch = torch.randint(0, 256, (count, 3, size, size), dtype=torch.uint8, generator=stream)
    before, augment = batch.clone(), Augment({"preset": preset})
    name = (seed, "property")
    whole = augment(batch, Draws(name, 3, count))
    parts = [slice(0, min(cut, count)), slice(min(cut, count), count)]
    pieces = [augment(batch[rows], Draws(name, 3, count, rows)) for rows in parts]
    torch.testing.assert_close(torch.cat(pieces), whole, atol=1e-4, rtol=0)
    assert whole.isfinite().all()
    assert whole.shape == batch.shape
    assert whole.dtype == torch.float32
    assert whole.is_contiguous(memory_format=torch.channels_last)
    assert batch.equal(before)
    assert augment(batch, Draws(name, 3, count)).equal(whole)


@given(
    height=st.integers(1, 60),
    width=st.integers(1, 60),
    low=st.floats(0.01, 1),
    ratio=st.floats(0.2, 1),
    seed=st.integers(0, 99),
)
def test_windows_lie_in_the_image(height, width, low, ratio, seed):
    step = RandomResizedCrop((low, 1.0), (ratio, 1 / ratio))
    uniform = Draws((seed, "windows"), 0, 20).uniform("x", ATTEMPTS, 4)
    top, left, h, w = step.boxes(uniform, height, width).unbind(1)
    assert (h > 0).all()
    assert (w > 0).all()
    assert (top >= 0).all()
    assert (left >= 0).all()
    assert (top + h <= height).all()
    assert (left + w <= width).all()


@given(
    start=st.integers(0, 20),
    length=st.integers(1, 20),
    target=st.integers(1, 50),
    interpolation=st.sampled_from(["bilinear", "bicubic"]),
)
def test_resizing_keeps_a_constant_and_looks_at_the_window_only(
    start, length, target, interpolation
):
    weights = window_weights(
        torch.tensor([start]), torch.tensor([length]), 40, target, interpolation
    )
    torch.testing.assert_close(weights.sum(-1), torch.ones(1, target))
    outside = torch.ones(40, dtype=torch.bool)
    outside[start : start + length] = False
    assert not weights[..., outside].any()


@given(labels=LABELS, test=st.floats(0.1, 0.4), validation=st.floats(0.1, 0.4))
def test_splits_are_a_partition_with_the_wanted_shares(labels, test, validation):
    parts = split_rows(labels, {"validation": validation, "test": test}, 0, "x")
    rows = torch.cat(list(parts.values()))
    assert rows.sort()[0].equal(torch.arange(len(labels)))
    assert abs(len(parts["validation"]) - validation * len(labels)) <= 1
    assert abs(len(parts["test"]) - test * len(labels)) <= 2
    for label in labels.unique():
        total = (labels == label).sum()
        for name, share in (("validation", validation), ("test", test)):
            assert abs((labels[parts[name]] == label).sum() - share * total) <= 2


@given(labels=LABELS, shares=st.lists(st.floats(0.01, 1), min_size=2, max_size=4))
def test_label_fractions_are_nested(labels, shares):
    subsets = [set(fraction_rows(labels, share, 0).tolist()) for share in sorted(shares)]
    for small, large in pairwise(subsets):
        assert small <= large
    assert all({int(labels[row]) for row in rows} == set(labels.tolist()) for rows in subsets)
