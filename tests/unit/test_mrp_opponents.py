"""What the headline compares: heads on anything, the most frequent class, the best opponent."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import torch

from featlearn.core.stats import per_replicate
from featlearn.mrp.claims.common import minus_best
from featlearn.mrp.classify import Task
from featlearn.mrp.experiment import Experiment
from featlearn.mrp.heads import head_rows, majority_rows, network_rows, raw
from featlearn.mrp.measure import EVALUATION_COLUMNS

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
def task() -> Task:
    return Task.of(Experiment("opponents", CONFIG, 0))


def frame(rows) -> pd.DataFrame:
    return pd.DataFrame(list(rows), columns=EVALUATION_COLUMNS)


def test_a_head_on_pure_features_is_right_on_what_it_never_saw(task):
    w = task.features.flatten(1, 2)  # one kernel a feature
    found = frame(head_rows("pure", task, w))
    for quantity in ("train_accuracy", "accuracy_multi_view", "accuracy_single_view"):
        assert per_replicate(found, quantity=quantity).tolist() == [1, 1]
    assert (per_replicate(found, quantity="gradient") < 1e-3).all()


def test_noise_in_many_patches_drowns_what_sums_the_patches():
    noisy = {**CONFIG, "data": {**CONFIG["data"], "feature_noise": 0.15, "patches": 100}}
    task = Task.of(Experiment("opponents", noisy, 0))
    linear = frame(head_rows("raw", task, raw))
    pure = frame(head_rows("pure", task, task.features.flatten(1, 2)))
    least = per_replicate(pure, quantity="accuracy_single_view")
    assert (least > per_replicate(linear, quantity="accuracy_single_view") + 0.2).all()


def test_networks_as_trained_are_measured_with_their_own_head(task):
    options = {"learning_rate": 0.5, "steps": 3, "record_every": 1}
    w = 0.1 * task.features.flatten(1, 2)
    fixed, free = task.supervise(w, options), task.supervise(w, options, head_too=True)
    blocks = torch.eye(4).repeat_interleave(2, 1).expand(2, -1, -1)
    assert torch.equal(fixed.u, blocks)
    assert not torch.equal(free.u, blocks)
    found = frame(network_rows("fixed", task, fixed.w, fixed.u))
    assert per_replicate(found, quantity="train_accuracy").tolist() == [1, 1]


def test_the_most_frequent_class_is_counted(task):
    found = frame(majority_rows(task))
    for r in range(2):
        counts = task.train.y[r].bincount(minlength=4)
        right = (task.single_view.y[r] == counts.argmax()).double().mean()
        row = found[found["replicate"] == r].set_index("quantity")["value"]
        assert row["accuracy_single_view"] == pytest.approx(float(right))
        assert row["train_accuracy"] == pytest.approx(float(counts.max() / 60))


def test_the_best_opponent_is_the_best_in_the_mean():
    rows = [("own", 0, "a", 0.9), ("own", 1, "a", 0.8), ("b", 0, "a", 1.0), ("b", 1, "a", 0.1),
            ("c", 0, "a", 0.6), ("c", 1, "a", 0.7)]  # fmt: skip
    seen = minus_best("own", ("b", "c"), "a")({"evaluation": frame(rows)})
    np.testing.assert_allclose(seen, [0.3, 0.1])
