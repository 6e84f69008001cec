"""Lemmas of chapter 3: nice neurons, the network of the proof, activation, printed bounds."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
import torch

from featlearn.core.seeds import Streams, generator
from featlearn.gradient_features import existence as built
from featlearn.gradient_features import printed
from featlearn.gradient_features.claims.lemmas import CLAIMS
from featlearn.gradient_features.cones import activation, background_tail
from featlearn.gradient_features.data import Linear, Mixture, Xor
from featlearn.gradient_features.experiments import lemmas
from featlearn.gradient_features.model import LOSSES, mixture_truth
from featlearn.gradient_features.parities import Parity

LAW, RATIO, GAMMA = Xor(100), 1.236, 0.05
STREAMS = Streams(0, "gradient_features", "test", range(2))


def test_a_neuron_is_nice_for_one_cluster_at_most_by_the_sign_of_its_output():
    neurons = built.draw(LAW, RATIO, 5000, generator("nice"))
    found = built.nice(LAW, neurons, GAMMA, LAW.size / 2)
    assert (found.sum(1) <= 1).all()
    turned = built.nice(LAW, neurons._replace(a=-neurons.a), GAMMA, LAW.size / 2)
    # centres come in opposite pairs
    torch.testing.assert_close(found[:, [1, 0, 3, 2]], turned)
    p = built.hit_probability(LAW, neurons, GAMMA, LAW.size / 2)
    assert found.double().mean(0).tolist() == pytest.approx([p / 2] * 4, abs=0.02)
    assert p > 0.05


def test_networks_lack_nice_neurons_as_seldom_as_chernoff_says():
    settings = {"neurons": [20, 400], "networks": 60, "threshold": RATIO, "gamma": GAMMA}
    frame = pd.DataFrame(lemmas.nice(LAW, settings, STREAMS))
    means = frame.groupby("neurons")[["value", "bound"]].mean()
    assert means["value"][20] > 0.5 > means["value"][400]
    assert (frame["value"] <= frame["bound"].clip(upper=1)).all()


def test_chernoffs_exponent_is_that_of_half_of_the_mean():
    # P(X <= (1 - delta) mu) <= exp(-mu (delta + (1 - delta) log(1 - delta))), mu = m p / 2
    assert pytest.approx((0.5 + 0.5 * math.log(0.5)) / 2) == built.CHERNOFF


@pytest.mark.parametrize(
    ("law", "ratio", "counts"),
    [(LAW, RATIO, (4_000, 40_000)), (Mixture(100), 2.0, (10_000, 300_000))],
)
def test_the_network_of_the_proof_comes_to_its_comparator(law, ratio, counts):
    margin = law.signal_std / 4
    of, truth = built.bounds(law, margin, law.size / 2), mixture_truth(law, margin)
    assert of.r == len(law.labels)
    neurons = built.draw(law, ratio, counts[1], generator("existence"))
    test = law.sample(500, [generator("test")])
    wanted = truth(test.x)
    apart = []
    for count in counts:
        part = built.Neurons(*(each[:count] for each in neurons))
        p = built.hit_probability(law, part, GAMMA, of.g)
        found = built.good_network(law, part, ratio, GAMMA, of, count * p, generator("rest"))
        # output weights of each cluster sum to a_j b_j / threshold
        of_one = found.a[0, found.a[0] > 0].sum().item()
        positive = int((law.labels > 0).sum())
        assert of_one == pytest.approx(positive * of.a * of.b / (ratio * law.signal_std))
        apart.append((found(test.x) - wanted).abs().mean().item())
    assert apart[1] < 0.7 * apart[0]
    loss = LOSSES["hinge"].mean(found, test).item()
    assert loss < 0.02 < 1 < of.excess(count * p, GAMMA)  # the bound says nothing
    # each neuron is a scaled G, of the length that its cluster's threshold asks for
    length = found.w.norm(dim=-1) * of.b / (ratio * law.signal_std)
    assert ((length - 1).abs() <= of.window(count * p) + 1e-9).all()


def test_activation_is_the_share_of_samples():
    for law in (Xor(5), Mixture(6, norm=2.0, classes=(1, -1)), Parity(40, 3, 3, 0.1, 0.2)):
        inputs = law.sample(40_000, [generator("inputs")])
        w = torch.randn(3, law.dimension, generator=generator("w"), dtype=torch.float64)
        b = torch.tensor([0.3, -0.5, 1.0]).double() * law.signal_std
        found = activation(law, w, b)
        active = (w @ inputs.x[0].mT > b[:, None]).double()
        first = -1 if isinstance(law, Parity) else 0
        for place in range(found.shape[1]):
            here = inputs.component[0] == place + first
            # a background of tens of coordinates is nearly Gaussian
            wanted = active[:, here].mean(1)
            assert (found[:, place] - wanted).abs().max() < 5 * (0.25 / here.sum()) ** 0.5 + 0.01


def test_laws_without_components_have_no_activation():
    with pytest.raises(ValueError, match="Linear"):
        activation(Linear(3), torch.ones(1, 3).double(), torch.ones(1).double())


def test_the_tail_of_the_background_is_that_of_samples():
    law = Parity(60, 5, 1, 0.0, 0.05)
    t = torch.tensor([1.0, 3.0, 6.0]).double()
    random = generator("tail")
    rest = law.draw(30_000, random)[0][:, 5:]
    w = torch.randn(rest.shape, generator=random, dtype=torch.float64)
    total = (w * rest).sum(1).abs()
    measured = (total[:, None] >= t).double().mean(0)
    exact = background_tail(law, t).exp()
    assert ((measured - exact).abs() <= 5 * (exact / len(total)).sqrt()).all()


def test_the_sub_gaussian_norm_of_a_rare_sign_is_not_the_root_of_its_probability():
    """Behind (B.428): E exp(phi^2 / K^2) = 2 at K^2 = 1 / log(1 + 1 / (2 p_o))."""
    over = []
    for chance in (0.1, 0.01, 0.001):
        square = 1 / math.log(1 + 1 / (2 * chance))
        assert 1 - 2 * chance + 2 * chance * math.exp(1 / square) == pytest.approx(2)
        over.append(square / chance)
    assert over[2] > 10 * over[1] / 2 > over[0]


def test_printed_bounds_at_known_sizes():
    assert printed.xor_error(4.0, 256, 4096) == pytest.approx(8 * (1 / 4 + 1 / 4))
    assert printed.xor_activation(100) == pytest.approx(0.03, abs=0.002)
    # C_b = 1, sigma = mu / sqrt(d), tau = 8: d^36
    assert printed.mixture_width(100, 10.0, 1.0) == pytest.approx(
        math.sqrt(8 * math.log(100)) * 1e72
    )
    assert printed.parity_width(10, 1) == pytest.approx(math.sqrt(8 * math.log(10)) * 1e9)
    assert printed.fixed_features_loss(3, 128, 1.0) == pytest.approx(-0.5)
    assert printed.uniform_parity_steps(10, 2, 5, 0.5) == 8 * 5 * 100 / 0.5
    assert printed.uniform_parity_inputs(51, 4, 150, 0.1) > 1e8
    assert printed.polynomial_inputs(15, 50, 2000) > 1e8
    assert printed.polynomial_width(15, 50, 2000, 0.1) > 1e25


def test_lemma_b76_holds_and_is_loose():
    """|E 1[g > z] g| = phi(z) < 2 P(g > z)^0.9."""
    z = torch.linspace(-6, 35, 2000, dtype=torch.float64)
    ratio = -z.square() / 2 - math.log(2 * math.pi) / 2 - math.log(2)
    ratio = ratio - 0.9 * torch.special.log_ndtr(-z)
    assert -1 < ratio.max() < 0


def frames(failures=0.01, power=-0.4, tail=2.0):
    nice = [
        {"neurons": 600, "hits": 56.0, "replicate": r, "value": failures, "bound": 0.1}
        for r in range(5)
    ]
    apart = [
        {"law": law, "hits": hits, "replicate": r, "value": hits**own}
        for law, own in (("xor", -0.5), ("mixture", power))
        for hits in (100, 1000, 10_000) for r in range(5)
    ]  # fmt: skip
    far = [{"dimension": 50, "deviation": t, "value": -(t**tail)} for t in (1, 4, 8, 16)]
    tables = {"nice": nice, "existence": apart, "tails": far}
    return {name: pd.DataFrame(rows) for name, rows in tables.items()}


@pytest.mark.parametrize(
    ("claim", "bad"),
    [
        ("lemma-3.13", {"failures": 0.2}),
        ("lemma-3.13-refutable", {"failures": 0.001}),
        ("lemma-3.14", {"power": -0.1}),
        ("tails-as-printed", {"tail": 1.2}),
    ],
)
def test_claims_hold_and_fail(claim, bad):
    one = next(own for own in CLAIMS if own.claim == f"gradient_features/{claim}")
    assert one.low <= np.mean(one.measure(frames())) <= one.high
    assert not one.low <= np.mean(one.measure(frames(**bad))) <= one.high
