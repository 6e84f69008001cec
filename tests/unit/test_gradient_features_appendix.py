"""Appendix B of chapter 3: drift bounds, cones in the infinity norm, features that stay fixed."""

import math

import pandas as pd
import pytest
import torch

from featlearn.core.evidence.baselines import least_hinge
from featlearn.core.seeds import Streams, generator
from featlearn.gradient_features import existence as built
from featlearn.gradient_features import printed
from featlearn.gradient_features.cones import activation, background_tail, start_of
from featlearn.gradient_features.data import (
    Mixture,
    Parity,
    UniformParity,
    Xor,
    majority_coefficient,
    signs,
)
from featlearn.gradient_features.experiments import appendix, lemmas
from featlearn.gradient_features.model import LOSSES, Network, mixture_truth
from featlearn.gradient_features.train import descend, first_step, gradients, scaled_first_step

HINGE = LOSSES["hinge"]
STREAMS = Streams(0, "gradient_features", "test", range(2))


def test_drift_losses_and_slopes_stay_within_lemmas_b8_to_b10():
    law = Xor(20)
    inputs = law.sample(200, STREAMS("inputs"))
    start, _ = start_of(law, STREAMS("start"), 6, 1.2)
    size = inputs.x.norm(dim=-1).mean(-1, keepdim=True)
    rate = 0.01
    stepped = first_step(start, inputs, rate, HINGE)
    assert (stepped.a.abs() <= rate * (size * start.w.norm(dim=-1) + start.b.abs())).all()
    assert (stepped.w.norm(dim=-1) <= rate * start.a.abs() * size).all()
    first = scaled_first_step(start, inputs, 2.4)
    rate = 0.1 / 20 / size.mean().item()
    path = list(descend(first, lambda: inputs, rate, 20, HINGE))
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


def test_features_are_at_most_one_and_a_constant_is_lost():
    w = torch.randn(1, 4, 6, generator=generator("w"), dtype=torch.float64)
    network = Network(w, torch.ones(1, 4).double(), torch.full((1, 4), 0.5).double())
    assert appendix.bounded_features(network, signs(6)).amax(0).tolist() == pytest.approx([1] * 4)
    d, k = 1001, 4
    whole = 3 * (k + 1) * 2 * math.sqrt(k) * math.sqrt(2 * math.log(d) * d) * math.sqrt(k) / (d - k)
    over = whole / printed.infinity_cone_error(d, k)
    assert over == pytest.approx(6 * math.sqrt(2) * (1 + 1 / k))


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


LAW, RATIO, GAMMA = Xor(100), 1.236, 0.05


def test_networks_lack_nice_neurons_as_seldom_as_chernoff_says():
    settings = {"neurons": [20, 400], "networks": 60, "threshold": RATIO, "gamma": GAMMA}
    frame = pd.DataFrame(lemmas.nice(LAW, settings, STREAMS))
    means = frame.groupby("neurons")[["value", "bound"]].mean()
    assert means["value"][20] > 0.5 > means["value"][400]
    assert (frame["value"] <= frame["bound"].clip(upper=1)).all()
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
