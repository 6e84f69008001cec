"""Starts and algorithms of chapter 3: gradients against autograd, networks of the proofs."""

import math

import pandas as pd
import pytest
import torch

from featlearn.core.evidence.baselines import Data, tangent
from featlearn.core.seeds import Streams
from featlearn.gradient_features import train
from featlearn.gradient_features.analysis.frozen import FITTING
from featlearn.gradient_features.data import (
    Mixture,
    MultiIndex,
    Parity,
    UniformParity,
    Xor,
    majority_coefficient,
)
from featlearn.gradient_features.experiments import frozen, opponents
from featlearn.gradient_features.model import (
    LOSSES,
    Network,
    error,
    mixture_truth,
    multi_index_start,
    parity_truth,
    symmetric_start,
    uniform_parity_start,
)

HINGE = LOSSES["hinge"]
STREAMS = Streams(0, "gradient_features", "test", range(3))


def start(law, neurons=4, ratio=0.5, **more):
    threshold = ratio * law.signal_std
    return symmetric_start(STREAMS("start"), neurons, law.dimension, threshold, **more)


def trained(law, loss="hinge"):
    network = start(law)
    random = torch.Generator().manual_seed(3)
    moved = network.a + 0.3 * torch.randn(network.a.shape, generator=random).double()
    return network._replace(a=moved), law.sample(50, STREAMS("inputs"))


@pytest.mark.parametrize("name", LOSSES)
def test_gradients_are_those_of_autograd(name):
    law = MultiIndex(6) if name == "square" else Xor(6)
    network, inputs = trained(law)
    w, a = network.w.clone().requires_grad_(), network.a.clone().requires_grad_()
    LOSSES[name].mean(Network(w, a, network.b), inputs).sum().backward()
    by_w, by_a = train.gradients(network, inputs, LOSSES[name])
    torch.testing.assert_close(by_w, w.grad)
    torch.testing.assert_close(by_a, a.grad)


def test_losses_that_bound_the_error_are_one_at_zero_and_convex():
    g = torch.linspace(-3, 3, 61, dtype=torch.float64)
    for name, loss in LOSSES.items():
        y = torch.ones_like(g)
        values, slopes = loss.value(g, y), loss.slope(g, y)
        assert (slopes.diff() >= -1e-12).all()
        assert slopes.diff().max() <= 0.1 * loss.bend + 1e-12
        away = (g - 1).abs() > 1e-3
        for part, found in ((loss.value, slopes), (loss.slope, loss.curve(g, y))):
            numeric = (part(g + 1e-6, y) - part(g - 1e-6, y)) / 2e-6
            torch.testing.assert_close(found[away], numeric[away], atol=1e-6, rtol=1e-6)
        if name != "square":
            assert loss.value(torch.zeros(1), torch.ones(1)).item() == pytest.approx(1)
            assert (values >= (g <= 0).double()).all()


def test_the_symmetric_start_computes_nothing():
    network = start(Xor(6))
    m, half = 4, 8
    assert network.w.shape == (3, 4 * m, 6)
    torch.testing.assert_close(network.w[:, m:half], -network.w[:, :m], rtol=0, atol=0)
    torch.testing.assert_close(network.w[:, half:], network.w[:, :half], rtol=0, atol=0)
    for part, sign in ((network.a, -1), (network.b, 1)):
        torch.testing.assert_close(part[:, half:], sign * part[:, :half], rtol=0, atol=0)
    assert (network.b[:, :m] > 0).all()
    assert (network.b[:, m:half] < 0).all()
    inputs = Xor(6).sample(50, STREAMS("inputs"))
    assert network.a.abs().min() > 0
    assert network(inputs.x).abs().max() < 1e-12


@pytest.mark.parametrize("law", [Parity(7, 3, 1, 0.2, 0.3), UniformParity(7, 4)])
def test_the_first_step_turns_neurons_into_the_gradient(law):
    """Remark 3.6, on the population of a law that can be enumerated; and Lemma B.71."""
    rate, support = 0.01, law.support()
    inputs = type(support)(*(part.expand(3, *part.shape[1:]) for part in support))
    network = start(law)
    if isinstance(law, UniformParity):
        network = uniform_parity_start(STREAMS("start"), 6, law.dimension, law.block)
    stepped = train.first_step(network, inputs, rate, HINGE)
    active = (inputs.x @ network.w.mT > network.b[:, None]).double()
    found = (active * (inputs.weight * inputs.y)[..., None]).mT @ inputs.x
    torch.testing.assert_close(stepped.w, rate * network.a[..., None] * found)
    if isinstance(law, UniformParity):
        exact = law.gradient(network.w, network.b)
        torch.testing.assert_close(stepped.w, rate * network.a[..., None] * exact)
    else:
        assert not torch.allclose(stepped.w[:, :4], stepped.w[:, 4:8])  # E[y x] is not zero
    half = network.a.shape[1] // 2
    torch.testing.assert_close(stepped.w[:, half:], -stepped.w[:, :half])


def test_descent_of_the_output_layer_keeps_the_bound_of_smooth_convex_losses():
    """Gap after T steps of size 1 / L: at most L |a - a*|^2 / (2 T) (Theorem 3.4, second stage)."""
    law, loss = Xor(8), LOSSES["logistic"]
    network, inputs = trained(law)
    fitted = train.fit_output(network, inputs, [0, 10, 100, 1000], loss)
    losses = {
        steps: loss.mean(network._replace(a=fitted.after(steps)), inputs) for steps in fitted.looks
    }
    distance = (fitted.after(1000) - network.a).square().sum(1)
    torch.testing.assert_close(fitted.after(0), network.a, rtol=0, atol=0)
    for steps in (10, 100):
        gap = losses[steps] - losses[1000]
        assert (gap >= 0).all()
        assert (gap <= fitted.smoothness * distance / (2 * steps)).all()


def test_the_smoothness_bounds_every_hessian():
    network, inputs = trained(Xor(5))
    bound = train.smoothness(network, inputs, LOSSES["logistic"])[0]
    features = network.features(inputs.x)[0]

    def loss(a):
        value = LOSSES["logistic"].value((features @ a)[None], inputs.y[:1])
        return (inputs.weight[:1] * value).sum()

    for a in (torch.zeros(16).double(), network.a[0]):
        bent = torch.autograd.functional.hessian(loss, a)
        top = torch.linalg.eigvalsh(bent)[-1]
        assert top <= bound + 1e-9
    at_zero = torch.autograd.functional.hessian(loss, torch.zeros(16).double())
    assert torch.linalg.eigvalsh(at_zero)[-1].item() == pytest.approx(bound.item())


def test_a_loss_with_a_kink_needs_a_rate():
    network, inputs = trained(Xor(5))
    with pytest.raises(ValueError, match="kink"):
        train.fit_output(network, inputs, [2], HINGE)
    fitted = train.fit_output(network, inputs, [2], HINGE, rate=torch.full((3,), 1e-3).double())
    assert fitted.a.shape == (3, 1, 16)


def test_stripped_labels_have_no_mean_and_no_linear_part():
    law = MultiIndex(4)
    inputs = law.sample(3000, STREAMS("inputs"))
    shifted = inputs._replace(y=inputs.y + 2 + inputs.x[..., 3])
    stripped = train.strip(shifted)
    assert (stripped.constant - 2).abs().max() < 0.2
    again = train.strip(stripped.inputs)
    assert again.constant.abs().max() < 0.2
    assert again.slope.abs().max() < 0.2
    network = multi_index_start(STREAMS("start"), 5, 4)
    ready = train.multi_index_network(network, stripped, 0.5, STREAMS("thresholds"))
    assert ready.b.abs().min() > 0
    # Algorithm 7: W = 2 eta a E[y x 1[active]]
    active = (inputs.x @ network.w.mT > 0).double() * (stripped.inputs.y / 3000)[..., None]
    torch.testing.assert_close(ready.w, network.a[..., None] * active.mT @ inputs.x)
    zero = ready._replace(a=torch.zeros_like(ready.a))
    put_back = stripped.predict(zero, inputs.x) + stripped.inputs.y
    torch.testing.assert_close(put_back, shifted.y)


@pytest.mark.parametrize(("block", "blocks"), [(3, 1), (5, 1), (3, 3)])
def test_the_parity_truth_has_no_hinge_loss(block, blocks):
    law = Parity(block * blocks, block, blocks, 0.1, 0.3)
    inputs = law.support()
    network = parity_truth(law)
    assert network.a.shape[1] == blocks * (block + 3)
    margins = network(inputs.x) * inputs.y
    assert margins.min().item() == pytest.approx(1)
    torch.testing.assert_close(
        margins[inputs.component >= 0], torch.ones(2 * blocks, dtype=torch.float64)
    )
    assert HINGE.mean(network, inputs).item() == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("block", [2, 4])
def test_the_truth_of_uniform_parity_is_the_label(block):
    inputs = UniformParity(7, block).support()
    network = parity_truth(UniformParity(7, block))
    torch.testing.assert_close(network(inputs.x), inputs.y)
    assert error(network, inputs).item() == 0


def test_the_mixture_truth_keeps_the_bound_of_lemma_b34():
    """At d = 1000, tau = 8: at most 3 / d^tau + 4 / (d^(0.9 tau - 1) sqrt(tau log d)) is 1e-18."""
    dimension, tau = 1000, 8
    margin = math.sqrt(tau * math.log(dimension))
    norm = math.sqrt(dimension)
    assert norm >= 4 * margin  # the constant of the proof
    law = Mixture(8, norm=norm, classes=(1, 1, -1, -1))
    network = mixture_truth(law, margin)
    inputs = law.sample(5000, STREAMS("inputs")[:1])
    # the projections on the directions are all that the network reads, so d = 8 serves
    assert (network(inputs.x) * inputs.y).min() > 1
    assert HINGE.mean(network, inputs).item() == 0
    weaker = mixture_truth(law, norm)  # threshold above the centres: nothing fires, loss 1
    assert HINGE.mean(weaker, inputs).item() == pytest.approx(1, abs=0.01)


PAIR = Streams(0, "gradient_features", "test", range(2))
LOGISTIC = LOSSES["logistic"]


def problem():
    law = Xor(6)
    network = symmetric_start(PAIR("start"), 4, 6, 0.5 * law.signal_std)
    return network, law.sample(60, PAIR("inputs"))


@pytest.mark.parametrize("steps", [0, 1, 7, 400])
def test_descent_on_the_square_loss_in_closed_form(steps):
    network, inputs = problem()
    fast = train.fit_square(network, inputs, [steps])
    slow = train.fit_output(network, inputs, [steps], LOSSES["square"])
    torch.testing.assert_close(fast.smoothness, slow.smoothness)
    torch.testing.assert_close(fast.after(steps), slow.after(steps), rtol=1e-6, atol=1e-9)


def test_the_nearest_optimum_has_no_gradient_and_is_no_worse_than_others():
    network, inputs = problem()
    pull = torch.tensor([0.01, 0.3]).double()
    found = train.nearest_optimum(network, inputs, LOGISTIC, pull)
    a = found.clone().requires_grad_()
    value = LOGISTIC.mean(network._replace(a=a), inputs) + pull * (a - network.a).square().sum(-1)
    value.sum().backward()
    assert a.grad.abs().max() < 1e-6
    # and so the bound of (B.12) holds, which it is made for
    fitted = train.fit_output(network, inputs, [20], LOGISTIC)
    pull = fitted.smoothness / 40
    best = train.nearest_optimum(network, inputs, LOGISTIC, pull)
    bound = LOGISTIC.mean(network._replace(a=best), inputs)
    bound += pull * (best - network.a).square().sum(-1)
    assert (LOGISTIC.mean(network._replace(a=fitted.after(20)), inputs) <= bound).all()


def test_rates_decay_as_one_over_t_and_the_bayes_classifier_knows_the_axes():
    network, inputs = problem()
    ones = torch.ones(2, dtype=torch.float64)
    fitted = train.fit_output(network, inputs, [0, 1, 2], LOGISTIC, rate=ones, decay=True)
    for step, t in ((0, 2), (1, 3)):
        now = network._replace(a=fitted.after(step))
        by_a = train.gradients(now, inputs, LOGISTIC)[1]
        torch.testing.assert_close(fitted.after(step + 1), now.a - by_a / t)
    inputs = Xor(40, noise=0.5).sample(500, ONE("clean"))
    assert opponents.optimal(inputs).item() == 1


def test_a_good_neuron_moves_as_its_reading_says():
    """Its sum over the block steps by twice the entries, which the grid's step should be."""
    law = UniformParity(31, 4)
    printed = 1 / (4 * abs(majority_coefficient(31, 3)))
    for reading, wanted in {
        "printed rate, step 2/k": 0.5,
        FITTING: 1,
        "printed rate, step 1/k": 1,
    }.items():
        factor, grid = frozen.READINGS[reading]
        start = uniform_parity_start(PAIR("start"), 40, 31, 4, thresholds=grid(4))
        entry = (factor * printed * law.gradient(start.w, start.b))[..., 0].abs()
        torch.testing.assert_close(entry, torch.full_like(entry, factor / 8))
        step = start.b.unique().diff().min().item()
        assert start.b.abs().max().item() == pytest.approx(3 / 4)
        assert 2 * factor / 8 / step == pytest.approx(wanted)


def test_the_scan_measures_the_share_of_the_closed_form():
    settings = {"replicates": 2, "dimensions": [20], "ratios": [2.0, 8.0], "neurons": 60,
                "head": {"train": 300, "validation": 100, "test": 100}}  # fmt: skip
    frame = pd.DataFrame(frozen.scan(settings, 0))
    means = frame.groupby("samples")["share"].mean()
    # terms of order 1 / d are left out of it
    assert means[800] == pytest.approx(1 / (1 + math.pi / 4), abs=0.1)
    assert means[3200] == pytest.approx(1 / (1 + math.pi / 16), abs=0.06)
    assert (frame["error"] < 1).all()


def test_a_polynomial_is_learned_where_its_directions_are_found():
    law = MultiIndex(8, (1.0, -1.0), (4.0, 4.0))
    settings = {"dimension": 8, "curvatures": [1.0, -1.0], "quartics": [4.0, 4.0], "neurons": 40,
                "samples": {"train": 1500, "validation": 200, "test": 500},
                "steps": 100_000}  # fmt: skip
    assert law.coefficients[1].square().sum() / 24 == pytest.approx(4 / 7)
    curve = pd.DataFrame(frozen.multi_index(settings, PAIR)).groupby("step")["value"].mean()
    assert curve[1] > 0.9
    # what is of degree 4 is more than half
    assert curve[100_000] < 0.45


LAW = Xor(5)
ONE = Streams(0, "gradient_features", "test", range(1))
START = symmetric_start(ONE("start"), 3, 5, 0.5)


def data(count, name):
    inputs = LAW.sample(count, ONE(name))
    return Data(inputs.x[0], inputs.y[0])


def test_the_tangent_kernel_is_the_product_of_gradients():
    x = data(4, "inputs").x

    def gradient(one):
        w, a = START.w.clone().requires_grad_(), START.a.clone().requires_grad_()
        Network(w, a, START.b)(one[None, None]).sum().backward()
        return torch.cat([w.grad.flatten(), a.grad.flatten()])

    rows = torch.stack([gradient(one) for one in x])
    torch.testing.assert_close(tangent(START.w[0], START.a[0], START.b[0])(x, x), rows @ rows.mT)


def test_a_network_learns_an_easy_xor_and_a_linear_classifier_does_not():
    config = {
        "neurons": 20, "threshold": 1.2, "rate": 1.0, "steps": 60,
        "check_every": 10, "samples": {"train": 400, "validation": 200, "test": 400},
    }  # fmt: skip
    rows = pd.DataFrame(opponents.cell(30, 1.0, config, 2, seed=0))
    means = rows.groupby("method")["value"].mean()
    assert means["network"] > 0.95
    # E[y x] = 0; the label is a quadratic form; labels in an order of chance teach nothing
    for method in ("linear", "shuffled labels", "majority"):
        assert abs(means[method] - 0.5) < 0.1
    assert means["quadratic kernel"] > 0.95
    assert len(rows) == 2 * 12
    assert (rows.groupby("replicate")["best"].sum() == 1).all()
    assert rows[["train", "validation", "value"]].to_numpy().max() <= 1
