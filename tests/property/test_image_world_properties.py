"""What must hold for every part-composed image and every augmentation, whatever the dials."""

from itertools import pairwise

import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from featlearn.images.augment import ATTEMPTS, Augment, RandomResizedCrop
from featlearn.images.config import scene_faults, world_faults
from featlearn.images.config_data import PRESETS
from featlearn.images.data.datasets import fraction_rows, split_rows
from featlearn.images.rng import Draws
from featlearn.images.worlds.parts import tight_boxes
from featlearn.images.worlds.scenes import Scenes
from featlearn.images.worlds.world import World, erase

NAME = (0, "images", "property-test")
CLASS_PARTS = ("own", "mixed", "half_new", "new")
KINDS, BACKGROUNDS = ("both", "colour", "texture"), ("gradient", "blobs", "waves")


def ranges(low: float, high: float):
    return st.tuples(st.floats(low, high), st.floats(low, high)).map(sorted)


@st.composite
def dials(draw) -> dict[str, object]:
    classes, views = draw(st.integers(2, 5)), draw(st.integers(1, 3))
    return {
        "image_size": draw(st.integers(16, 40)), "classes": classes, "parts_per_class": views,
        "class_parts": draw(st.sampled_from(CLASS_PARTS)), "alphabet": draw(st.integers(0, 5)),
        "part_size": draw(st.floats(4, 12) | st.floats(0.2, 0.45)),
        "part_kinds": draw(st.lists(st.sampled_from(KINDS), min_size=views, max_size=views)),
        "part_scales": draw(st.lists(st.floats(0.6, 1), min_size=1, max_size=1)),
        "part_contrasts": draw(st.lists(st.floats(0.2, 1), min_size=views, max_size=views)),
        "single_view_share": draw(st.floats(0, 1)),
        "weak_strength": draw(st.sampled_from([0.0, 0.1, 0.5])),
        "main_strength": draw(ranges(0.3, 1)), "off_strength": draw(ranges(0.05, 0.5)),
        "sparsity": draw(st.floats(0, classes)),
        "most_distractors": draw(st.none() | st.integers(0, 4)),
        "placement": draw(st.sampled_from(["random", "cells"])),
        "rotation": draw(st.floats(0, 180)),
        "scaling": draw(st.floats(0, 0.3)), "variants": draw(st.integers(1, 4)),
        "background": draw(st.floats(0, 1)),
        "background_kinds": draw(st.lists(st.sampled_from(BACKGROUNDS), unique=True)),
        "noise": draw(st.floats(0, 0.2)),
    }  # fmt: skip


@given(dials(), st.integers(0, 70), st.integers(0, 100))
def test_images_are_what_their_annotations_say(chosen, count, start):
    assume(not list(world_faults(chosen, "world")))
    world = World(chosen)
    pictures = world.sample(count, NAME, start=start)
    there, mine = pictures.strengths > 0, pictures.own

    assert pictures.images.shape == (count, 3, chosen["image_size"], chosen["image_size"])
    assert ((pictures.strengths >= 0) & (pictures.strengths <= 1)).all()
    assert (there & ~mine).sum(1).le(world.most_distractors).all()
    shown = there.gather(1, pictures.parts_of_class[pictures.labels])
    views = torch.arange(chosen["parts_per_class"])
    strong = (pictures.view[:, None] < 0) | (pictures.view[:, None] == views)
    assert shown[strong].all()
    assert shown[~strong].all() or chosen["weak_strength"] == 0

    coverage = pictures.coverage()
    assert ((coverage > 0).sum(1) <= 1).all()
    assert torch.equal((coverage > 0).flatten(2).any(2), there)
    assert torch.equal(tight_boxes(pictures.part_masks()).short(), pictures.boxes)

    bare = erase(pictures, there)
    changed = (bare != pictures.images).any(1)
    assert not changed[(coverage == 0).all(1)].any()
    assert torch.equal(erase(pictures, torch.zeros_like(there)), pictures.images)


@given(dials(), st.integers(1, 40))
def test_an_image_depends_on_its_number_only(chosen, count):
    assume(not list(world_faults(chosen, "world")))
    world = World(chosen)
    all_of_them, some = world.sample(80, NAME), world.sample(count, NAME, start=80 - count)
    assert torch.equal(all_of_them.images[80 - count :], some.images)
    assert torch.equal(all_of_them.boxes[80 - count :], some.boxes)
    assert torch.equal(World(chosen).sample(3, NAME).images, all_of_them.images[:3])


@settings(max_examples=25)
@given(dials(), st.integers(1, 4), st.floats(10, 30), st.floats(0, 10), st.floats(0, 1))
def test_scenes_have_their_objects_in_the_image_and_apart(chosen, most, length, spread, body):
    scene = {
        "image_size": 64, "objects": [1, most], "object_size": [length, length + spread],
        "single_view_share": chosen["single_view_share"], "clutter": 1, "body": body,
    }  # fmt: skip
    assume(not list(world_faults(chosen, "world")))
    assume(not list(scene_faults(scene, "scenes", chosen["parts_per_class"])))
    found = Scenes(World(chosen), scene).sample(20, NAME)
    there = found.labels >= 0
    assert there[:, 0].all()
    boxes = found.boxes[there]
    assert (boxes[:, 2:] > boxes[:, :2]).all()
    assert boxes.min() >= 0
    assert boxes.max() <= 64
    for one in range(most):
        for two in range(one):
            both = there[:, one] & there[:, two]
            a, b = found.boxes[both, one], found.boxes[both, two]
            # a part's own rounding may reach a pixel over the body's edge
            assert ((a[:, 2:] <= b[:, :2] + 2) | (b[:, 2:] <= a[:, :2] + 2)).any(1).all()


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
