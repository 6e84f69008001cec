"""Overlays of heat."""

from __future__ import annotations

import pytest
import torch

from featlearn.images.overlay import DIM, overlay


@pytest.mark.parametrize("size", [(1, 1), (32, 32), (48, 31)])
def test_without_heat_the_picture_is_there_in_grey(size):
    images = torch.full((2, 3, *size), 200, dtype=torch.uint8)
    drawn = overlay(images, torch.zeros(2, *size))
    assert drawn.shape == images.shape
    assert (drawn == round(DIM * 200)).all()


def test_hot_is_coloured_and_lighter_on_pictures_of_any_colour():
    for colour in ((0, 0, 0), (255, 255, 255), (255, 0, 0), (250, 140, 10)):
        images = torch.tensor(colour, dtype=torch.uint8)[None, :, None, None].expand(1, 3, 4, 4)
        heat = torch.zeros(1, 4, 4)
        heat[0, 1, 2] = 1
        drawn = overlay(images, heat).float()
        hot, cold = drawn[0, :, 1, 2], drawn[0, :, 0, 0]
        assert hot.max() - hot.min() > 60
        assert cold.max() - cold.min() < 2
        assert hot.mean() > cold.mean()


def test_what_does_not_fit_is_refused():
    images = torch.zeros(1, 3, 4, 4, dtype=torch.uint8)
    with pytest.raises(ValueError, match="uint8"):
        overlay(images.float(), torch.zeros(1, 4, 4))
    with pytest.raises(ValueError, match="shape"):
        overlay(images, torch.zeros(1, 4, 5))
    with pytest.raises(ValueError, match=r"\[0, 1\]"):
        overlay(images, torch.full((1, 4, 4), 1.5))
