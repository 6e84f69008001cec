"""Inputs, splits, orbits, and the heads that should not solve the task."""

from math import comb

import pytest
import torch

from featlearn.fourier.baselines import heads
from featlearn.fourier.data import index_of, labels, orbits, split, split_tuples, tuples
from featlearn.fourier.network import normal_start


def random(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def test_inputs_are_digits_and_permutations_one_orbit():
    assert tuples(torch.tensor([0, 5, 24]), 2, 5).tolist() == [[0, 0], [1, 0], [4, 4]]
    every = torch.arange(7**3)
    a = tuples(every, 3, 7)
    assert torch.equal(index_of(a, 7), every)
    assert len(torch.unique(a, dim=0)) == 7**3
    # all labels are as frequent
    assert labels(a, 7).bincount().tolist() == [49] * 7
    a = torch.tensor([[1, 4, 2], [4, 2, 1], [1, 4, 3]])
    first, second, third = orbits(index_of(a, 5), 3, 5).tolist()
    assert first == second != third
    assert len(orbits(torch.arange(125), 3, 5).unique()) == comb(5 + 3 - 1, 3)


@pytest.mark.parametrize("kind", ["tuples", "orbits"])
def test_a_split_takes_each_input_once(kind):
    parts = split(kind, 3, 7, 0.5, random())
    assert torch.equal(torch.cat(parts).sort().values, torch.arange(343))
    assert abs(len(parts.train) - 343 / 2) <= 6
    again = split(kind, 3, 7, 0.5, random())
    assert torch.equal(parts.train, again.train)


def test_no_head_adds_without_learned_features():
    k, p = 3, 11
    parts = split_tuples(k, p, 0.5, random())
    start = normal_start(k, p, 40, 0.1, [random(1)])
    found = {row["method"]: row for row in heads(start, *parts)}
    assert set(found) == {"linear", "random features", "majority"}
    assert all(row["value"] < 3 / p for row in found.values())
    # the features are used all the same
    assert found["random features"]["train"] > 1.5 / p
