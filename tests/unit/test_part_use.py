"""Part counts on constructed heat."""

from __future__ import annotations

import math

import pytest
import torch

from featlearn.images.part_use import part_use


@pytest.fixture
def masks():
    """Three parts of 4, 4 and 2 pixels in a picture of 6 x 6; the third is absent in image 1."""
    masks = torch.zeros(2, 3, 6, 6, dtype=torch.bool)
    masks[:, 0, :2, :2] = True
    masks[:, 1, 4:, 4:] = True
    masks[0, 2, 0, 4:] = True
    return masks


def test_heat_on_one_part_alone(masks):
    use = part_use(3.0 * masks[:, 0], masks)
    assert use.hit.tolist() == [[True, False, False]] * 2
    assert use.hits.tolist() == [1, 1]
    torch.testing.assert_close(use.share, torch.tensor([[1.0, 0, 0]] * 2))
    assert use.pointed.tolist() == [[True, False, False]] * 2
    torch.testing.assert_close(use.entropy, torch.zeros(2))
    assert use.density[0, 0] == pytest.approx(36 / 4)


def test_heat_on_two_parts_in_given_proportion(masks):
    use = part_use(3.0 * masks[:, 0] + 1.0 * masks[:, 1], masks)
    torch.testing.assert_close(use.share[:, :2], torch.tensor([[0.75, 0.25]] * 2))
    # 1/3 of the maximum is no hit
    assert use.hits.tolist() == [1, 1]
    entropy = -(0.75 * math.log(0.75) + 0.25 * math.log(0.25))
    assert use.entropy.tolist() == pytest.approx([entropy / math.log(3), entropy / math.log(2)])


def test_a_part_is_hit_from_half_the_maximum_on(masks):
    heat = 1.0 * masks[:, 0]
    assert part_use(heat + 0.5 * masks[:, 1], masks).hits.tolist() == [2, 2]
    assert part_use(heat + 0.49 * masks[:, 1], masks).hits.tolist() == [1, 1]


def test_even_heat_has_density_one_and_uses_equal_parts_alike(masks):
    use = part_use(torch.ones(2, 6, 6), masks)
    torch.testing.assert_close(use.density[1], torch.tensor([1.0, 1, 0]))
    assert use.entropy[1] == pytest.approx(1)


def test_heat_beside_all_parts_hits_none(masks):
    beside = torch.zeros(2, 6, 6)
    beside[:, 3, 2] = 1
    use = part_use(beside, masks)
    assert use.hits.tolist() == [0, 0]
    assert not use.pointed.any()
    assert use.entropy.isnan().all()


def test_no_heat_at_all_hits_nothing(masks):
    use = part_use(torch.zeros(2, 6, 6), masks)
    assert use.hits.tolist() == [0, 0]
    assert not use.pointed.any()
    assert (use.share == 0).all()


def test_heat_and_masks_must_fit(masks):
    with pytest.raises(ValueError, match="expected"):
        part_use(torch.zeros(2, 5, 6), masks)
    with pytest.raises(ValueError, match="no negative"):
        part_use(torch.full((2, 6, 6), -1.0), masks)
