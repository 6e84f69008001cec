"""Masks over images: exact counts, places, and the way to pixels and to other grids."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
import torch

from featlearn.core.errors import ConfigError
from featlearn.images.draws import Draws
from featlearn.images.masking import cells, masked_count, masked_share, random_mask, upsample


def draws(size=64, step=0, rows=None):
    return Draws((0, "masking"), step, size, rows)


@pytest.mark.parametrize("ratio", [0.1, 0.4, 0.55, 0.6, 0.75])
@pytest.mark.parametrize("grid", [(4, 4), (8, 8), (3, 5), (10, 10)])
def test_every_image_has_exactly_the_rounded_up_number_of_masked_cells(ratio, grid):
    wanted = math.ceil(Fraction(str(ratio)) * grid[0] * grid[1])
    mask = random_mask(draws(), grid, ratio)
    assert mask.shape == (64, *grid)
    assert mask.dtype == torch.bool
    assert (mask.sum((1, 2)) == wanted).all()


def test_every_cell_is_masked_as_often_as_any_other():
    mask = random_mask(draws(8000), (4, 4), 0.25).double().mean(0)
    assert (mask - 0.25).abs().max() < 5 * math.sqrt(0.25 * 0.75 / 8000)


def test_a_process_masks_its_images_as_one_process_with_all_of_them():
    whole = random_mask(draws(10), (4, 4), 0.6)
    parts = [random_mask(draws(10, rows=rows), (4, 4), 0.6) for rows in (slice(0, 7), slice(7, 10))]
    assert torch.equal(torch.cat(parts), whole)
    assert not torch.equal(random_mask(draws(10, step=1), (4, 4), 0.6), whole)


@pytest.mark.parametrize(("ratio", "number"), [(0.0, 16), (1.0, 16), (0.99, 4)])
def test_a_ratio_that_hides_nothing_or_all_is_refused(ratio, number):
    with pytest.raises(ConfigError, match=f"mask ratio {ratio}"):
        masked_count(ratio, number)


def test_cells_must_fill_the_image():
    assert cells((32, 48), 8) == (4, 6)
    with pytest.raises(ConfigError, match="cells of 5 px do not fill an image of 32x32 px"):
        cells((32, 32), 5)


def test_upsampling_repeats_each_cell():
    mask = random_mask(draws(5), (3, 4), 0.5)
    wanted = mask.repeat_interleave(2, 1).repeat_interleave(2, 2)
    assert torch.equal(upsample(mask, 2), wanted)
    assert torch.equal(upsample(mask, 1), mask)


def test_share_of_a_coarser_and_of_a_finer_grid():
    mask = torch.tensor([[[True, False], [False, False]]])
    assert torch.equal(masked_share(mask, 4, 8), torch.tensor([[[0.25]]]))
    assert torch.equal(masked_share(mask, 4, 4), mask.float())
    assert torch.equal(masked_share(mask, 4, 2), upsample(mask, 2).float())
    with pytest.raises(ConfigError, match="cells of 4 px over a map of 6 px"):
        masked_share(mask, 4, 6)
