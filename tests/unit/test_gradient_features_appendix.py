"""Appendix B of chapter 3: drift bounds, cones in the infinity norm, features that stay fixed."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
import torch

from featlearn.core.seeds import Streams, generator
from featlearn.gradient_features import printed
from featlearn.gradient_features.claims.appendix import CLAIMS
from featlearn.gradient_features.cones import start_of
from featlearn.gradient_features.data import Xor
from featlearn.gradient_features.experiments import appendix
from featlearn.gradient_features.fixed import bounded_features, least_hinge
from featlearn.gradient_features.model import LOSSES, Network, uniform_parity_start
from featlearn.gradient_features.parities import (
    Parity,
    UniformParity,
    majority_coefficient,
    signs,
)
from featlearn.gradient_features.train import descend, first_step, gradients, scaled_first_step

HINGE = LOSSES["hinge"]
STREAMS = Streams(0, "gradient_features", "test", range(2))


@pytest.fixture(scope="module")
def descent():
    """A start, its first step, twenty more of Algorithm 5, and the inputs that are its law."""
    law = Xor(20)
    inputs = law.sample(200, STREAMS("inputs"))
    start, _ = start_of(law, STREAMS("start"), 6, 1.2)
    first = scaled_first_step(start, inputs, 2.4)
    rate = 0.1 / 20 / inputs.x.norm(dim=-1).mean().item()
    return start, first, list(descend(first, lambda: inputs, rate, 20, HINGE)), rate, inputs


def test_the_first_step_is_as_small_as_lemma_b8_says(descent):
    start, _, _, _, inputs = descent
    size = inputs.x.norm(dim=-1).mean(-1, keepdim=True)
    rate = 0.01
    stepped = first_step(start, inputs, rate, HINGE)
    assert (stepped.a.abs() <= rate * (size * start.w.norm(dim=-1) + start.b.abs())).all()
    assert (stepped.w.norm(dim=-1) <= rate * start.a.abs() * size).all()


def test_weights_drift_by_no_more_than_the_recursion_of_lemma_b9(descent):
    _, first, path, rate, inputs = descent
    size = inputs.x.norm(dim=-1).mean(-1)[:, None]
    of = printed.Drift(size, first.a.abs(), first.w.norm(dim=-1), first.b.abs(), rate)
    for steps, now in enumerate(path, 1):
        assert ((now.w - first.w).norm(dim=-1) <= of.corrected(steps) + 1e-15).all()
    # its continuous form, whose leading term in Z is quadratic in the length
    s = 20 * rate * size
    smooth = first.a.abs() * torch.sinh(s) + of.pull / size * (torch.cosh(s) - 1)
    torch.testing.assert_close(of.corrected(20), smooth, rtol=0.1, atol=0)
    # the printed bound is smaller by the number of steps, up to a factor
    ratio = [(of.corrected(t) / of.as_printed(t)).median().item() for t in (10, 20)]
    assert ratio == pytest.approx([9 / 2, 19 / 2], rel=0.1)


def test_losses_and_slopes_change_by_no_more_than_lemma_b10_says(descent):
    _, first, path, _, inputs = descent
    size = inputs.x.norm(dim=-1).mean(-1)
    a = torch.randn(first.a.shape, generator=generator("comparator"), dtype=torch.float64)
    a[:, ::2] = 0
    begun = HINGE.mean(first._replace(a=a), inputs)
    for now in path:
        moved = (now.w - first.w).norm(dim=-1)
        gap = (HINGE.mean(now._replace(a=a), inputs) - begun).abs()
        active = (a != 0).sum(1).double().sqrt()
        assert (gap <= size * a.norm(dim=1) * active * moved.amax(1)).all()
        slope = gradients(now, inputs, HINGE)[1].abs()
        reach = size[:, None] * (moved + first.w.norm(dim=-1)) + first.b.abs()
        assert (slope <= reach).all()


@pytest.mark.parametrize(("dimension", "block"), [(51, 4), (101, 2), (201, 6)])
def test_good_directions_lie_in_the_infinity_cone_of_lemma_b64(dimension, block):
    law = UniformParity(dimension, block)
    found = appendix.good_directions(law, 5, generator("good"))
    gap = (found - law.directions).abs().amax(1)
    assert (gap <= math.sqrt(block) / (dimension - block)).all()
    # (B.557): the size falls as d^(-(k-1)/2), and not as d^(-k)
    size = [abs(majority_coefficient(d, block - 1)) for d in (1001, 4001)]
    slope = math.log(size[1] / size[0]) / math.log(4001 / 1001)
    assert slope == pytest.approx(-(block - 1) / 2, abs=0.01)


def test_good_starts_are_as_likely_as_lemma_b64_says():
    block = 4
    start = uniform_parity_start([generator("starts")], 20_000, 9, block)
    own = start.w[0, :20_000, :block].sum(1).abs() == block
    assert own.double().mean().item() == pytest.approx(2.0 ** (1 - block), abs=0.01)


def test_the_constant_that_theorem_b65_loses():
    d, k = 1001, 4
    whole = 3 * (k + 1) * 2 * math.sqrt(k) * math.sqrt(2 * math.log(d) * d) * math.sqrt(k) / (d - k)
    over = whole / printed.infinity_cone_error(d, k)
    assert over == pytest.approx(6 * math.sqrt(2) * (1 + 1 / k))


def test_the_least_hinge_loss_comes_with_its_certificate():
    x = torch.randn(200, 3, generator=generator("x"), dtype=torch.float64)
    y = (x[:, 0] + 0.3 * x[:, 1]).sign()
    for norm in (0.1, 5.0):
        found = least_hinge(x, y, norm, 2000)
        assert found.w.norm() <= norm * (1 + 1e-9)
        assert found.certified <= found.loss <= found.certified + 1e-3
        around = torch.randn(500, 3, generator=generator("around"), dtype=torch.float64)
        around *= norm / around.norm(dim=1, keepdim=True)
        losses = (1 - y * (around @ x.mT)).clamp_min(0).mean(1)
        assert losses.min() >= found.certified


def test_features_are_at_most_one_and_reach_it():
    w = torch.randn(1, 4, 6, generator=generator("w"), dtype=torch.float64)
    network = Network(w, torch.ones(1, 4).double(), torch.full((1, 4), 0.5).double())
    assert bounded_features(network, signs(6)).amax(0).tolist() == pytest.approx([1] * 4)


def test_a_linear_classifier_meets_proposition_3_23_at_one_half():
    """w = 1_A / k solves the structured half; the other has loss 1 at least, as E[y x] = 0."""
    k = 3
    inputs = Parity(5, k, 1, 0.25, 0.5).support()
    x, y, weight = inputs.x[0], inputs.y[0], inputs.weight[0]
    uniform = inputs.component[0] < 0
    assert ((weight * y)[uniform] @ x[uniform]).abs().max() < 1e-12
    w = torch.zeros(5, dtype=torch.float64)
    w[:k] = 1 / k
    loss = (weight * (1 - y * (x @ w)).clamp_min(0)).sum().item()
    assert loss == pytest.approx(0.5)
    assert loss >= printed.fixed_features_loss(k, 5, 1 / math.sqrt(k))


def frames(slope=1.0, over=0.1, order=-0.5, above=0.2, below=0.1):
    drift = [{"steps": t, "replicate": r, "printed": t**slope} for t in (10, 100) for r in range(3)]
    cone = [
        {"copies": c, "replicate": r, "dimension": d, "value": over * 10 * d**order,
         "bound": 10 * d**-0.4}
        for c in (1, 30) for d in (50, 800) for r in range(3)
    ]  # fmt: skip
    fixed = [
        {"arm": arm, "block": 9, "norm": norm, "replicate": r, "certified": 0.3 + above,
         "value": 0.3 - below, "bound": 0.3}
        for arm in ("random", "first step") for norm in (1.0, 10.0, 30.0) for r in range(3)
    ]  # fmt: skip
    tables = {"drift": drift, "alternative": cone, "fixed": fixed}
    return {name: pd.DataFrame(rows) for name, rows in tables.items()}


@pytest.mark.parametrize(
    ("claim", "good", "bad"),
    [
        ("drift-as-printed", {"slope": 0.0}, {"slope": 1.0}),
        ("theorem-b65", {}, {"over": 2}),
        ("theorem-b65", {}, {"over": 0.01, "order": 0}),
        ("proposition-3.23", {}, {"above": -0.1}),
        ("proposition-3.23-refutable", {}, {"above": 0.6}),
        ("beyond-fixed-features", {}, {"below": 0.0}),
    ],
)
def test_claims_hold_and_fail(claim, good, bad):
    one = next(own for own in CLAIMS if own.claim == f"gradient_features/{claim}")
    assert one.low <= np.mean(one.measure(frames(**good))) <= one.high
    assert not one.low <= np.mean(one.measure(frames(**bad))) <= one.high
