"""Part-composed images: that they are drawn from the multi-view distribution, and what they show.

Frequencies and moments are held to five standard errors of a fixed seed.
"""

import math

import pytest
import torch

from featlearn.core.errors import ConfigError
from featlearn.images.worlds.parts import alphabet, draw_stamps, jitter, tight_boxes
from featlearn.images.worlds.scenes import Scenes
from featlearn.images.worlds.world import BLOCK, Pictures, World, erase
from unit.test_sampler import frequency_fits, mean_fits

COUNT = 4000
NAME = (0, "images", "world-test")
SMALL = {
    "image_size": 24, "classes": 4, "part_size": 6, "rotation": 10, "variants": 3, "sparsity": 1.2,
    "single_view_share": 0.4, "weak_strength": 0.5,
}  # fmt: skip


@pytest.fixture(scope="module")
def drawn() -> Pictures:
    return World(SMALL).sample(COUNT, NAME)


def uniform_fits(values: torch.Tensor, low: float, high: float) -> bool:
    """Range, mean and variance of a uniform law."""
    values, middle = values.double(), (low + high) / 2
    inside = bool((values >= low - 1e-6).all() and (values <= high + 1e-6).all())
    squares = (values - middle) ** 2
    return inside and mean_fits(values, middle) and mean_fits(squares, (high - low) ** 2 / 12)


def test_classes_views_and_strengths_have_their_probabilities(drawn):
    for label in range(4):
        assert frequency_fits(drawn.labels == label, 1 / 4)
    assert frequency_fits(drawn.single_view, 0.4)
    assert torch.equal(drawn.single_view, drawn.view >= 0)
    strong = drawn.view[drawn.single_view]
    assert set(strong.tolist()) == {0, 1}
    assert frequency_fits(strong == 0, 1 / 2)
    own = drawn.strengths.gather(1, drawn.parts_of_class[drawn.labels])
    weak = drawn.single_view[:, None] & (drawn.view[:, None] != torch.arange(2))
    assert uniform_fits(own[~weak], 0.8, 1.0)
    assert uniform_fits(own[weak], 0.4, 0.5)
    off = drawn.strengths[~drawn.own]
    assert uniform_fits(off[off > 0], 0.2, 0.4)
    off = drawn.strengths[~drawn.own] > 0
    assert off.numel() == COUNT * 6
    assert frequency_fits(off, 1.2 / 4)
    pairs = (drawn.strengths > 0)[~drawn.own].view(COUNT, 6)
    assert frequency_fits(pairs[:, :2].all(1), (1.2 / 4) ** 2)


@pytest.mark.parametrize("most", [0, 1, 2])
def test_distractors_beyond_the_most_are_thinned_out_evenly(most):
    pictures = World({**SMALL, "most_distractors": most}).sample(COUNT, NAME)
    off = (pictures.strengths > 0)[~pictures.own].view(COUNT, 6)
    assert off.sum(1).max() == most
    chance = 0.3
    law = [math.comb(6, b) * chance**b * (1 - chance) ** (6 - b) for b in range(7)]
    share = sum(min(b, most) * weight for b, weight in enumerate(law)) / 6
    if most:
        for part in range(6):
            assert frequency_fits(off[:, part], share)


def test_contrasts_scale_the_strength_of_a_view():
    pictures = World({**SMALL, "part_contrasts": [1.0, 0.5]}).sample(1000, NAME)
    plain = World(SMALL).sample(1000, NAME)
    factor = torch.tensor([1.0, 0.5]).repeat(4)
    torch.testing.assert_close(pictures.strengths, plain.strengths * factor)


def test_shares_and_views_shift_no_other_draw(drawn):
    world = World(SMALL)
    free = world.sample(200, NAME, single_view_share=1.0)
    for view in range(2):
        forced = world.sample(200, NAME, single_view_share=1.0, view=view)
        assert (forced.view == view).all()
        assert torch.equal(forced.labels, free.labels)
        same = free.view == view
        assert torch.equal(forced.images[same], free.images[same])
    multi = World(SMALL).sample(COUNT, NAME, single_view_share=0.0)
    assert (multi.view == -1).all()
    assert torch.equal(multi.labels, drawn.labels)
    assert torch.equal(multi.boxes, drawn.boxes)
    assert torch.equal(multi.images[~drawn.single_view], drawn.images[~drawn.single_view])


def test_random_places_reach_every_pixel_alike():
    settings = {**SMALL, "sparsity": 0, "parts_per_class": 1, "rotation": 0, "scaling": 0}
    pictures = World(settings).sample(COUNT, NAME)
    number = torch.arange(COUNT)
    part = pictures.parts_of_class[pictures.labels, 0]
    x0, y0, _, _ = pictures.boxes[number, part].unbind(1)
    for corner in (x0, y0):
        for label in range(4):
            mine = corner[pictures.labels == label]
            places = mine.max() - mine.min() + 1
            for at in range(int(mine.min()), int(mine.max()) + 1):
                assert frequency_fits(mine == at, 1 / int(places))


def test_an_image_is_its_background_with_its_parts_over_it():
    """Pixel by pixel, with a plain background and no noise."""
    pictures = World({**SMALL, "background": 0, "noise": 0}).sample(12, NAME)
    stamps, recipe = pictures.recipe.world.stamps, pictures.recipe
    for number in range(12):
        wanted = torch.full((24, 24, 3), 0.5)
        for part in pictures.strengths[number].nonzero().flatten().tolist():
            stamp = stamps.pixels[part, recipe.variants[number, part]]
            top, left = recipe.places[number, part].tolist()
            strength = pictures.strengths[number, part]
            for y, x in (stamp[..., 3] > 0).nonzero().tolist():
                paint, covered = stamp[y, x, :3], stamp[y, x, 3]
                seen = wanted[top + y, left + x] * (1 - strength * covered) + strength * paint
                wanted[top + y, left + x] = seen
        found = pictures.images[number].permute(1, 2, 0)
        assert (found.int() - (wanted * 255).round().int()).abs().max() <= 1  # the last bit


def test_erasing_restores_the_background_and_its_noise_to_the_bit():
    pictures = World({**SMALL, "noise": 0.1}).sample(100, NAME)
    parts = pictures.strengths > 0
    bare = erase(pictures, parts)
    others = World({**SMALL, "noise": 0.1, "alphabet": 3, "part_size": 5}).sample(100, NAME)
    assert not torch.equal(others.images, pictures.images)
    assert torch.equal(erase(others, others.strengths > 0), bare)


def test_noise_and_background_have_their_contrast():
    none = {**SMALL, "noise": 0, "sparsity": 0}
    plain = World({**none, "background": 0}).sample(20, NAME)
    assert (erase(plain, plain.own) == 128).all()
    spreads = []
    for contrast in (0.2, 0.8):
        pictures = World({**none, "background": contrast}).sample(200, NAME)
        bare = erase(pictures, pictures.own).float()
        spreads.append(bare.flatten(2).std(2).mean())
        steps = (bare[..., 1:] - bare[..., :-1]).abs().mean()
        assert steps < spreads[-1] / 2  # smooth
    assert spreads[0] > 2
    assert spreads[1] > 2.5 * spreads[0]
    quiet = {**SMALL, "background": 0, "sparsity": 0, "noise": 0.05}
    pictures = World(quiet).sample(200, NAME)
    bare = erase(pictures, pictures.own).double() / 255
    # 0.5 is rounded up to 128, and rounding adds the variance of a uniform law of width 1 / 255
    assert abs(bare.mean().item() - 0.5) < 1e-3
    assert abs(bare.var().item() - (0.05**2 + 1 / 255**2 / 12)) < 5e-5


def test_stamps_hold_the_whole_part_at_every_jitter():
    """The area grows with the square of the scale: nothing is cut off or wrapped around."""
    parts = alphabet(20, ["both"])
    angles, scales = jitter(9, 180, 0.2)
    stamps = draw_stamps(parts, [20.0] * 20, 24, angles, scales)
    area = stamps.pixels[..., 3].sum((2, 3)) / scales**2
    assert (area / area.mean(1, keepdim=True) - 1).abs().max() < 0.04
    assert area.min() > 0.2 * 3.14 * 100  # of the disc
    top, left = stamps.pixels[..., 3].sum(3)[:, :, 0], stamps.pixels[..., 3].sum(2)[:, :, 0]
    assert (top > 0).all()
    assert (left > 0).all()


@pytest.mark.parametrize(("class_parts", "wanted"), [
    ("own", [[0, 1], [2, 3], [4, 5], [6, 7]]),
    ("mixed", [[0, 3], [2, 5], [4, 7], [6, 1]]),
    ("half_new", [[0, 9], [2, 11], [4, 13], [6, 15]]),
    ("new", [[8, 9], [10, 11], [12, 13], [14, 15]]),
    ([[0, 5], [1, 7], [2, 3], [4, 9]], [[0, 5], [1, 7], [2, 3], [4, 9]]),
])  # fmt: skip
def test_class_sets_share_parts_pixel_by_pixel(class_parts, wanted):
    old, world = World(SMALL), World({**SMALL, "class_parts": class_parts})
    assert world.parts_of_class.tolist() == wanted
    for part in {part for parts in wanted for part in parts}:
        if part < 8:
            assert torch.equal(world.stamps.pixels[part], old.stamps.pixels[part])
            assert world.names[part] == old.names[part]
    pictures = world.sample(300, NAME)
    seen = set((pictures.strengths > 0).any(0).nonzero().flatten().tolist())
    assert seen == {part for parts in wanted for part in parts}


@pytest.mark.parametrize(("settings", "message"), [
    ({"main_strength": [1.0, 0.5]}, r"main_strength must be .*lower end first, got \[1.0, 0.5"),
    ({"sparsity": 11}, r"sparsity must be at most classes \(10\).*, got 11"),
    ({"part_scales": [1, 1, 1]}, "part_scales must be one value, or one for each of"),
    ({"class_parts": [[0, 1]]}, r"class_parts must be a list for each of the classes \(10\)"),
    ({"classes": 2, "class_parts": [[0, 0], [1, 2]]}, "class_parts.0 must .*different part"),
    ({"classes": 2, "class_parts": [[0, 1], [1, 0]]}, r"class_parts.1 must .*unlike .* \[0\]"),
    ({"classes": 80}, "classes must be so few .* at most 140 parts in all, got 160"),
    ({"part_size": 3}, "part_size must be so large that parts have 4 pixels .*got 3: 2.7"),
    ({"part_size": 0.9}, "part_size must be so small that 2 parts find room.*got 0.9"),
])  # fmt: skip
def test_bad_settings_are_named(settings, message):
    with pytest.raises(ConfigError, match=message):
        World(settings)


SCENES = {"image_size": 64, "objects": [1, 3], "object_size": [16, 24]}


def test_objects_and_views_have_their_shares():
    roomy = Scenes(World(SMALL), {**SCENES, "image_size": 192})
    count = (roomy.sample(120, NAME).labels >= 0).sum(1)
    for objects in (1, 2, 3):
        assert frequency_fits(count == objects, 1 / 3)
    settings = {**SCENES, "objects": [1, 1], "single_view_share": 0.3}
    found = Scenes(World(SMALL), settings).sample(1000, NAME)
    assert frequency_fits(found.view >= 0, 0.3)


def test_boxes_are_tight_around_what_is_seen_of_an_object():
    settings = {**SCENES, "objects": [1, 1], "clutter": 0, "body": 1.0}
    alone = Scenes(World({**SMALL, "noise": 0, "background": 0}), settings).sample(200, NAME)
    seen = tight_boxes((alone.images != 128).any(1)).float()
    # the edge pixels that an object covers by less than half are seen too
    outside = (alone.boxes[:, 0] - seen) * torch.tensor([1, 1, -1, -1])
    assert outside.min() >= 0
    assert outside.max() <= 1
    assert outside.mean() < 0.7


@pytest.mark.parametrize("views", [1, 2, 3, 4])
def test_objects_without_a_body_are_boxed_by_their_parts(views):
    settings = {**SCENES, "objects": [1, 1], "clutter": 0, "body": 0, "object_size": [20, 30]}
    world = World({**SMALL, "noise": 0, "background": 0, "parts_per_class": views})
    alone = Scenes(world, settings).sample(100, NAME)
    seen = tight_boxes((alone.images != 128).any(1)).float()
    assert (alone.boxes[:, 0] - seen).abs().max() <= 1


def test_a_scene_is_the_same_however_many_are_drawn():
    world = World({**SMALL, "noise": 0, "background": 0})
    scenes = Scenes(world, SCENES).sample(600, NAME)
    for label in range(4):
        assert frequency_fits(scenes.labels[scenes.labels >= 0] == label, 1 / 4)
    some = Scenes(world, SCENES).sample(10, NAME, start=BLOCK - 5)
    assert torch.equal(some.images, scenes.images[BLOCK - 5 : BLOCK + 5])
    assert torch.equal(some.boxes, scenes.boxes[BLOCK - 5 : BLOCK + 5])


@pytest.mark.parametrize(("settings", "message"), [
    ({"objects": [3, 1]}, r"^scenes.objects must be a range.* got \[3, 1\]"),
    ({"object_size": [0.5, 0.2]}, "^scenes.object_size must be a range, the lower end first"),
    ({"object_size": [6, 9]}, "^scenes.object_size must be so large that parts .* 4 pixels"),
    ({"object_size": [0.5, 0.99]}, "^scenes.object_size must be so small .* any angle"),
])  # fmt: skip
def test_bad_settings_of_scenes_are_named(settings, message):
    with pytest.raises(ConfigError, match=message):
        Scenes(World(SMALL), settings)
