"""One step, then the output layer: descent in closed form, comparators, readings of Algorithm 6."""

import math

import pandas as pd
import pytest
import torch

from featlearn.core.baselines import Data, tangent
from featlearn.core.seeds import Streams
from featlearn.gradient_features import train
from featlearn.gradient_features.analysis.frozen import FITTING
from featlearn.gradient_features.data import MultiIndex, UniformParity, Xor, majority_coefficient
from featlearn.gradient_features.experiments import frozen, opponents
from featlearn.gradient_features.model import LOSSES, Network, symmetric_start, uniform_parity_start

STREAMS = Streams(0, "gradient_features", "test", range(2))
LOGISTIC = LOSSES["logistic"]


def problem():
    law = Xor(6)
    network = symmetric_start(STREAMS("start"), 4, 6, 0.5 * law.signal_std)
    return network, law.sample(60, STREAMS("inputs"))


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
        start = uniform_parity_start(STREAMS("start"), 40, 31, 4, thresholds=grid(4))
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
    curve = pd.DataFrame(frozen.multi_index(settings, STREAMS)).groupby("step")["value"].mean()
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
