"""The panel of baselines: kernels against explicit features, memory, choice by validation."""

import itertools
import math

import pytest
import torch

from featlearn.core.errors import FeatlearnError
from featlearn.core.evidence import baselines
from featlearn.core.evidence.baselines import Data, Score

RANDOM = torch.Generator()


@pytest.fixture(autouse=True)
def same_draws():
    """Each test draws the same data, whichever tests ran before it."""
    RANDOM.manual_seed(1)


def gaussian(*shape):
    return torch.randn(shape, generator=RANDOM, dtype=torch.float64)


def signs(*shape):
    return gaussian(*shape).sign()


def sets(draw, label, counts=(60, 40, 50)):
    return [Data(x, label(x)) for x in map(draw, counts)]


def second_moments(x):
    """1, sqrt(2) x_i, and all products of two coordinates: the square of 1 + <x, x'>."""
    pairs = (x[:, :, None] * x[:, None]).flatten(1)
    return torch.cat([torch.ones(len(x), 1).double(), math.sqrt(2) * x, pairs], 1)


W, B = gaussian(30, 4), gaussian(30)
THREES = [*itertools.combinations(range(4), 3)]


def relu(x):
    return torch.relu(x @ W.mT - B)


@pytest.mark.parametrize(("kernel", "features"), [
    (baselines.polynomial(2), second_moments),
    (baselines.products(3), lambda x: torch.stack([x[:, list(c)].prod(1) for c in THREES], 1)),
    (baselines.of_features(relu), relu),
])  # fmt: skip
def test_the_dual_solution_is_that_of_the_explicit_features(kernel, features, monkeypatch):
    monkeypatch.setattr(baselines, "PENALTIES", (0.1,))
    data = sets(lambda n: gaussian(n, 4), lambda x: x[:, 0] * x[:, 1] + x[:, 2])
    seen = []
    baselines.ridge([kernel], data, lambda result, _: seen.append(result) or 0.0)
    # ridge regression on the features themselves, its penalty in their size
    train, _, test = (features(part.x) for part in data)
    scaled = 0.1 * train.square().sum(1).mean() * torch.eye(train.shape[1]).double()
    weight = torch.linalg.solve(train.mT @ train + scaled, train.mT @ data[0].y)
    torch.testing.assert_close(seen[-1][:, 0], test @ weight)


def test_a_block_at_a_time_is_all_at_once(monkeypatch):
    data = sets(lambda n: gaussian(n, 4), lambda x: x[:, 0].sign())
    whole = baselines.ridge(baselines.rbf_kernels(data[0].x), data)
    monkeypatch.setattr(baselines, "BLOCK", 7)
    rows = []
    kernels = baselines.rbf_kernels(data[0].x)
    watched = [lambda x, other, k=k: rows.append(len(x)) or k(x, other) for k in kernels]
    assert baselines.ridge(watched, data) == whole
    assert max(rows) == 7


def test_validation_chooses_bandwidth_and_penalty():
    data = sets(lambda n: gaussian(n, 3), lambda x: (x[:, 0] * x[:, 1]).sign(), (300, 300, 500))
    flat, kernels = baselines.rbf(1e9), baselines.rbf_kernels(data[0].x)
    chosen = baselines.ridge(kernels, data)
    assert chosen.test > 0.85 > 0.65 > baselines.ridge([flat], data).test
    assert baselines.ridge([flat, *kernels], data) == chosen


def test_too_many_inputs_for_the_memory_are_refused_by_number(monkeypatch):
    data = sets(lambda n: gaussian(n, 3), lambda x: x[:, 0].sign())
    monkeypatch.setattr(baselines, "MEMORY", 3 * 8 * 50**2)
    with pytest.raises(FeatlearnError, match="at most 50 to fit in memory, got 60"):
        baselines.ridge([baselines.polynomial(1)], data)


def test_several_classes_are_told_by_their_largest_output():
    def classes(x):
        return torch.nn.functional.one_hot((x[:, 0] > 0).long() + (x[:, 0] > 1).long(), 3)

    data = sets(lambda n: gaussian(n, 3), classes, (200, 100, 200))
    assert baselines.ridge(baselines.rbf_kernels(data[0].x), data).test > 0.8
    most = data[2].y.double().mean(0)[data[0].y.sum(0).argmax()]
    assert baselines.majority(data).test == pytest.approx(most.item())


def test_patches_are_told_by_their_maximum_or_by_second_moments():
    def label(x):  # the sign of the only large entry of a patch
        return x.flatten(1).gather(1, x.flatten(1).abs().argmax(1, keepdim=True))[:, 0].sign()

    data = sets(lambda n: gaussian(n, 3, 2) + 5 * torch.nn.functional.one_hot(
        torch.randint(6, (n,), generator=RANDOM), 6).view(n, 3, 2) * signs(n, 1, 1),
        label, (200, 100, 200))  # fmt: skip
    kernels = baselines.kernels(data[0].x, RANDOM)
    assert baselines.ridge(kernels["patch maximum"], data).test > 0.9
    moments = baselines.patch_moments(data[0].x)
    assert moments.shape == (200, 4)
    patch = data[0].x[0]
    torch.testing.assert_close(moments[0].view(2, 2), sum(torch.outer(p, p) for p in patch) / 3)


def test_every_member_is_there_or_left_out_with_a_reason_and_validation_names_the_best():
    data = sets(lambda n: gaussian(n, 3), lambda x: (x[:, 0] * x[:, 1]).sign(), (200, 100, 200))
    methods = baselines.kernels(data[0].x, RANDOM) | {"own start": Score(1.0, 0.01, 1.0)}
    why = dict.fromkeys((*(n for n in baselines.MEMBERS if n.startswith("patch")),
                         "tangent kernel", "shuffled labels"), "none here")  # fmt: skip
    scores, best = baselines.panel(methods, why, data)
    assert set(scores) == set(baselines.MEMBERS) - set(why)
    assert scores[best].validation == max(score.validation for score in scores.values())
    # the highest of the test scores is not that of the best on validation data
    assert best != "own start"
    lost = baselines.panel(methods, why, data, lambda r, y: 1 - baselines.accuracy(r, y), best=min)[
        1
    ]
    assert lost == "own start"  # 0.01 is the smallest error
    for reason in ({}, why | {"tangent kernel": ""}):
        with pytest.raises(FeatlearnError, match="tangent kernel"):
            baselines.panel(methods, reason, data)


def test_shuffled_labels_keep_their_number_and_leave_the_test_set_alone():
    names = ("train", "validation", "test")
    given = {name: Data(gaussian(2, 50, 3), signs(2, 50)) for name in names}
    streams = [torch.Generator().manual_seed(seed) for seed in range(2)]
    seen = baselines.with_shuffled_labels(dict, given, streams)
    assert seen["test"] is given["test"]
    for name in names[:2]:
        assert (seen[name].y.sum(1) == given[name].y.sum(1)).all()
        assert (seen[name].y != given[name].y).any()
        assert seen[name].x is given[name].x
