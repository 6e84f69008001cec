"""What the headline compares: heads on anything, the most frequent class, the best opponent."""

import numpy as np
import pytest
import torch

from featlearn.core.frames import tidy
from featlearn.mrp.data import Problem
from featlearn.mrp.gradients import classification_descent
from featlearn.mrp.labels import Models
from featlearn.mrp.measure import head, majority, network, unlearned
from featlearn.mrp.train import supervise

CONFIG = {
    "replicates": 2,
    "data": {
        "classes": 4, "dimension": 16, "patches": 12, "sparsity": 1, "feature_noise": 0.0,
        "noise": 0.0, "features_per_class": 2, "patches_per_feature": 1, "train_samples": 60,
        "test_samples": 40,
    },
    "network": {"kernels_per_class": 2, "q": 4, "varrho": 0.3, "sigma_0": 0.02},
}  # fmt: skip


@pytest.fixture(scope="module")
def problem() -> Problem:
    return Problem("opponents", CONFIG, 0)


def test_heads_are_right_on_pure_features_and_on_networks_as_trained(problem):
    found = head(problem, problem.features.flatten(1, 2))  # one kernel a feature
    for quantity in ("train_accuracy", "accuracy_multi_view", "accuracy_single_view"):
        assert found[quantity].tolist() == [1, 1]
    assert (found["gradient"] < 1e-3).all()
    options = {"learning_rate": 0.5, "steps": 3, "record_every": 1}
    w = 0.1 * problem.features.flatten(1, 2)
    fixed, free = (supervise(problem, w, **options, head_too=too) for too in (False, True))
    blocks = torch.eye(4).repeat_interleave(2, 1).expand(2, -1, -1)
    assert torch.equal(fixed.u, blocks)
    assert not torch.equal(free.u, blocks)
    assert network(problem, fixed.w, fixed.u)["train_accuracy"].tolist() == [1, 1]


def test_each_step_under_masks_sees_the_patches_of_a_fresh_one(problem):
    kept = [problem.masks(0.3, step) for step in range(2)]
    assert not torch.equal(*kept)
    assert torch.equal(Problem("opponents", CONFIG, 0).masks(0.3, 1), kept[1])
    assert kept[0].double().mean() == pytest.approx(0.3, abs=0.06)
    u, w = problem.blocks(problem.kernels()), problem.kernels(sigma_0=0.3)
    found = supervise(problem, w, learning_rate=0.5, steps=2, theta=0.3).w
    for mask in kept:
        left = problem.train.x * mask[..., None]
        w = w + 0.5 * classification_descent(left, problem.train.y, w, u, problem.activation).w
    torch.testing.assert_close(found, w)
    every = supervise(problem, w, learning_rate=0.5, steps=2, theta=1.0).w
    torch.testing.assert_close(every, supervise(problem, w, learning_rate=0.5, steps=2).w)


def test_features_that_nobody_learned_do_not_know_the_order_of_the_patches(problem):
    samples = problem.train
    turned = samples._replace(x=samples.x.flip(2))
    assert not torch.equal(samples.x, turned.x)
    for encode in unlearned(problem).values():
        torch.testing.assert_close(encode(samples), encode(turned))
    assert unlearned(problem)["random_many"](samples).shape == (2, 60, 1000)


def test_the_most_frequent_class_is_counted(problem):
    found = majority(problem)
    for r in range(2):
        counts = problem.train.y[r].bincount(minlength=4)
        right = (problem.tests["single_view"].y[r] == counts.argmax()).double().mean()
        assert found["accuracy_single_view"][r] == right
        assert found["train_accuracy"][r] == pytest.approx(float(counts.max() / 60))


def test_the_best_opponent_is_the_best_in_the_mean():
    values = np.array([[0.9, 0.8], [1.0, 0.1], [0.6, 0.7]])[..., None]
    axes = {"model": ["own", "b", "c"], "replicate": range(2), "quantity": ["a"]}
    models = Models({})
    models.frames = {"evaluation": tidy(axes, value=values)}
    np.testing.assert_allclose(models.lead_over_best("own", ("b", "c"), "a"), [0.3, 0.1])
