"""Regions pooled by products, against torchvision's RoIAlign."""

from __future__ import annotations

import pytest
import torch
from torchvision.ops import MultiScaleRoIAlign, roi_align

from featlearn.images.region_pooling import MOST_CELLS, RegionPooling, interpolation, pool

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
    found = pool(maps, boxes, size, 1 / 8, points)
    expected = roi_align(maps, boxes, size, 1 / 8, points)
    torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-12)
    weight = torch.randn(expected.shape, generator=own, dtype=torch.float64)
    (gradient,) = torch.autograd.grad((found * weight).sum(), maps)
    (wanted,) = torch.autograd.grad((expected * weight).sum(), maps)
    torch.testing.assert_close(gradient, wanted, rtol=1e-10, atol=1e-10)
    assert (expected == 0).flatten(1).all(1).any()  # some region lies outside


def test_shares_of_a_point_within_the_map_sum_to_one():
    share = interpolation(torch.tensor([0.0, -9.0]), torch.tensor([6.0, -3.0]), 8, 3, 2)
    torch.testing.assert_close(share[0].sum(-1), torch.ones(3))
    assert not share[1].any()


@pytest.mark.parametrize("side", [8, 2 * int(MOST_CELLS**0.5)])
def test_a_single_map_of_any_size_is_pooled_as_in_torchvision(side):
    maps = {"last": torch.randn(2, 4, side, side, generator=torch.Generator().manual_seed(3))}
    boxes = [regions(5).float(), regions(3, seed=4).float()]
    sizes = [(PIXELS, PIXELS)] * 2
    found, expected = (
        kind(["last"], 5, sampling_ratio=2)(maps, boxes, sizes)
        for kind in (RegionPooling, MultiScaleRoIAlign)
    )
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)


def test_a_pyramid_is_left_to_torchvision():
    own = torch.Generator().manual_seed(5)
    maps = {str(n): torch.randn(1, 4, 16 // 2**n, 16 // 2**n, generator=own) for n in range(2)}
    boxes, sizes = [regions(9).float()], [(PIXELS, PIXELS)]
    found, expected = (
        kind(["0", "1"], 5, sampling_ratio=2)(maps, boxes, sizes)
        for kind in (RegionPooling, MultiScaleRoIAlign)
    )
    assert torch.equal(found, expected)


def test_no_region_at_all_gives_no_row():
    assert pool(torch.randn(2, 4, 8, 8), [torch.zeros(0, 4)] * 2, 5, 1 / 8, 2).shape == (0, 4, 5, 5)


def test_places_stay_exact_where_the_network_computes_in_bfloat16():
    maps = torch.randn(1, 4, 8, 8, generator=torch.Generator().manual_seed(6)).bfloat16()
    boxes = [regions(40).float()]
    with torch.autocast("cpu", torch.bfloat16):
        found = pool(maps, boxes, 5, 1 / 8, 2)
    assert found.dtype == torch.bfloat16
    assert torch.equal(found, pool(maps.float(), boxes, 5, 1 / 8, 2).bfloat16())
