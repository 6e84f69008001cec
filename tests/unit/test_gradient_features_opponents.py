"""Opponents of the networks of chapter 3: kernels against features, ridge against its optimum."""

from __future__ import annotations

import pandas as pd
import pytest
import torch

from featlearn.core.seeds import Streams
from featlearn.gradient_features import baselines
from featlearn.gradient_features.baselines import Data, random_features, ridge, tangent
from featlearn.gradient_features.claims.opponents import claims
from featlearn.gradient_features.data import Xor
from featlearn.gradient_features.experiments import opponents
from featlearn.gradient_features.model import Network, symmetric_start
from featlearn.gradient_features.tables.opponents import HEADS, xor_opponents

LAW = Xor(5)
STREAMS = Streams(0, "gradient_features", "test", range(1))
START = symmetric_start(STREAMS("start"), 3, 5, 0.5)


def data(count, name):
    inputs = LAW.sample(count, STREAMS(name))
    return Data(inputs.x[0], inputs.y[0])


def test_the_tangent_kernel_is_the_product_of_gradients():
    x = data(4, "inputs").x

    def gradient(one):
        w, a = START.w.clone().requires_grad_(), START.a.clone().requires_grad_()
        Network(w, a, START.b)(one[None, None]).sum().backward()
        return torch.cat([w.grad.flatten(), a.grad.flatten()])

    rows = torch.stack([gradient(one) for one in x])
    torch.testing.assert_close(tangent(START)(x, x), rows @ rows.mT)


def test_ridge_is_the_optimum_of_the_features(monkeypatch):
    """The dual solution of the kernel is the primal one of its features."""
    monkeypatch.setattr(baselines, "PENALTIES", (0.1,))
    training, test = data(40, "inputs"), data(200, "test")
    features = START.features(training.x[None])[0]
    gram = features @ features.mT
    penalty = 0.1 * gram.diagonal().mean()
    eye = torch.eye(features.shape[1], dtype=torch.float64)
    weight = torch.linalg.solve(features.mT @ features + penalty * eye, features.mT @ training.y)
    scores = START.features(test.x[None])[0] @ weight
    wanted = (scores.sign() == test.y).double().mean().item()
    assert ridge([random_features(START)], training, training, test).test == pytest.approx(wanted)


def test_validation_chooses_bandwidth_and_penalty():
    training, validation, test = data(400, "inputs"), data(400, "validation"), data(400, "test")
    kernels = baselines.rbf_kernels(training.x)
    chosen = ridge(kernels, training, validation, test)
    flat = ridge([baselines.rbf(1e9)], training, validation, test)
    assert chosen.test > 0.85 > 0.65 > flat.test
    assert chosen == ridge([baselines.rbf(1e9), *kernels], training, validation, test)


def test_the_bayes_classifier_knows_the_axes():
    inputs = Xor(40, noise=0.5).sample(500, STREAMS("clean"))
    assert opponents.optimal(inputs).item() == 1


def test_a_network_learns_an_easy_xor_and_a_linear_classifier_does_not():
    config = {
        "neurons": 20, "threshold": 1.2, "rate": 1.0, "steps": 60,
        "check_every": 10, "samples": {"train": 400, "validation": 200, "test": 400},
    }  # fmt: skip
    rows = pd.DataFrame(opponents.cell(30, 1.0, config, 2, seed=0))
    means = rows.groupby("method")["value"].mean()
    assert means["network"] > 0.95
    assert abs(means["linear"] - 0.5) < 0.1
    assert len(rows) == 2 * 6
    assert rows[["train", "validation", "value"]].to_numpy().max() <= 1


CONFIG = {"opponents": {"judged": {"dimension": 200, "noise": 4.0, "replicates": 5}}}


def frames(**accuracies):
    given = {"network": 0.95, "RBF kernel": 0.85, "tangent kernel": 0.7, "random features": 0.6,
             "linear": 0.5} | accuracies  # fmt: skip
    return {
        "accuracies": pd.DataFrame([
            {"noise": 4.0, "dimension": d, "method": method.replace("_", " "), "replicate": r,
             "value": value if d == 200 or method != "RBF kernel" else value - 0.2 * (d == 50)}
            for d in (50, 200) for method, value in given.items() for r in range(5 + (d == 200))
        ])
    }  # fmt: skip


@pytest.mark.parametrize(
    ("claim", "bad"),
    [
        ("xor-beats-own-start", {"tangent kernel": 0.93}),
        ("xor-beats-best-opponent", {"RBF kernel": 0.94}),
        ("xor-needs-features", {"linear": 0.6}),
    ],
)
def test_claims_fail_where_an_opponent_is_as_good(claim, bad):
    one = next(own for own in claims(CONFIG) if own.claim == f"gradient_features/{claim}")
    assert one.low <= one.measure(frames()).mean() <= one.high
    assert not one.low <= one.measure(frames(**bad)).mean() <= one.high


def test_the_table_has_the_training_accuracy_of_its_own_row():
    rows = [
        {"dimension": d, "noise": noise, "method": method, "replicate": r, "value": 0.5,
         "train": d / 1000 + noise / 10}
        for d in (50, 200) for noise in (2.0, 4.0) for method in HEADS for r in range(2)
    ]  # fmt: skip
    made = xor_opponents(pd.DataFrame(rows))
    for row in made.shown.itertuples():
        assert row.network.endswith(f"({row.dimension / 1000 + row.noise / 10:.3g})")
    assert list(made.shown["noise"]) == [2, 2, 4, 4]
    assert len(made.frame) == 4 * len(HEADS)


def test_the_gain_of_the_kernel_is_over_the_dimension():
    one = next(own for own in claims(CONFIG) if own.claim.endswith("xor-kernel-gains"))
    assert one.measure(frames()).mean() == pytest.approx(0.2)
