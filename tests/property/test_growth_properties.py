"""What must hold of the closed forms and of the lottery sets whatever the numbers."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from featlearn.mrp import closed_forms as forms
from featlearn.mrp.experiments.growth import predicted_hits
from featlearn.mrp.kernels import lottery_sets, memberships
from featlearn.mrp.model import Activation

seeds = st.integers(0, 10_000)


def draw(seed, *shape):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@given(initial=st.floats(0.01, 0.05), factor=st.floats(1.01, 1.5), power=st.integers(2, 8))
def test_who_starts_nearer_arrives_earlier(initial, factor, power):
    law = (torch.tensor(1.0), power, Activation(3, 0.3), 0.5)
    start = torch.tensor([initial, initial * factor])
    far, near = (forms.hitting_time(own, 0.09, *law).item() for own in start)
    assert far > near > 0


@given(seed=seeds, small=st.floats(0.05, 1), more=st.floats(0, 1))
def test_sets_hold_their_best_kernel_and_grow_with_the_constant(seed, small, more):
    correlation = draw(seed, 2, 12, 5, 2)
    narrow, wide = (lottery_sets(correlation, c) for c in (small, small + more))
    assert (wide | ~narrow).all()
    best = correlation.argmax(1, keepdim=True)
    positive = correlation.amax(1, keepdim=True) > 0
    assert (narrow.gather(1, best) == positive).all()
    assert (memberships(narrow) <= memberships(wide)).all()


@given(seed=seeds, kernels=st.integers(4, 8))
def test_with_one_feature_a_kernel_no_feature_arrives_earlier(seed, kernels):
    correlation, growth = 0.02 * draw(seed, 2, kernels, 4), 1 + draw(seed + 1, 2, 4).abs()
    law = (correlation, growth, 0.1, "mae", Activation(4, 0.3), 1.0)
    shared, single = (predicted_hits(*law, exclusive=chosen) for chosen in (False, True))
    assert (single >= shared).all()
    # the very first arrival has its choice of kernels
    torch.testing.assert_close(single.amin(1), shared.amin(1))
