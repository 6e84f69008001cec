"""Which photographs Figures 1, 3, 4 and 5 show, and what stands below their maps."""

import matplotlib.pyplot as plt
import pytest
import torch

from featlearn.own_images.paper_maps import Seen, fig_1, fig_3, fig_4


@pytest.fixture
def seen():
    """Eight pictures of three classes; maps differ on number 2 most, then on 5."""
    first = torch.zeros(8, 16, 16)
    second = first.clone()
    second[2], second[5, :8] = 1.0, 1.0
    images = torch.full((8, 3, 16, 16), 90, dtype=torch.uint8)
    labels = torch.tensor([0, 0, 0, 2, 2, 2, 2, 1])
    return Seen(images, labels, {"supervised": first, "SimMIM": second}, ("cat", "dog", "owl"))


def test_pictures_come_by_the_difference_of_their_maps(seen):
    assert seen.ordered().labels.tolist() == [0, 2, 0, 0, 2, 2, 2, 1]
    assert seen.ordered().one_a_class().ordered().labels.tolist() == [0, 2, 1]
    assert [len(own.images) for own in seen.most_right(2)] == [4, 3]
    assert len(seen.of(torch.tensor([7])).most_right(2)) == 1  # a class without pictures is none


def below(drawn):
    return [ax.get_xlabel() for ax in drawn.findobj(plt.Axes) if ax.get_xlabel()]


def test_the_last_picture_averages_all_and_the_warm_share_is_told(seen):
    told = below(fig_3(seen))
    assert told[:3] == ["cat", "0 % warm", "100 % warm"]
    # two of eight maps, one of them in half
    assert told[-3:] == ["mean of 8", "0 % warm", "19 % warm"]
    assert below(fig_1(seen)).count("owl") == 4
    assert {"mean of 4", "mean of 3"} <= {*below(fig_4(seen))}
    plt.close("all")
