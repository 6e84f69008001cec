"""Lottery sets: who may win a feature."""

import math

import pytest
import torch

from featlearn.mrp.kernels import lottery_sets, memberships

#: One replicate, four kernels, k = 10 classes of one feature; only class 0 and 1 matter.
CORRELATION = torch.full((1, 4, 10, 1), -1.0)
CORRELATION[0, :, 0, 0] = torch.tensor([1.0, 0.9, 0.6, -0.2])
CORRELATION[0, :, 1, 0] = torch.tensor([0.1, 2.0, 1.0, 1.9])


@pytest.mark.parametrize(
    ("constant", "members"),
    [(0.25, [[0, 1], [1, 3]]), (1.0, [[0, 1, 2], [1, 3]])],  # shares 0.891 and 0.566 of the best
)
def test_a_set_holds_the_kernels_near_the_best(constant, members):
    sets = lottery_sets(CORRELATION, constant)
    assert memberships(sets).tolist() == [[sum(k in own for own in members) for k in range(4)]]
    for cls, wanted in enumerate(members):
        assert sets[0, :, cls, 0].nonzero().flatten().tolist() == wanted


def test_a_kernel_without_positive_correlation_is_in_no_set():
    sets = lottery_sets(CORRELATION, 10 * math.log(10))  # so wide that the share is negative
    assert not sets[0, 3, 0, 0]
    assert sets[0, :3, 0, 0].all()
    assert not sets[:, :, 2:].any()
