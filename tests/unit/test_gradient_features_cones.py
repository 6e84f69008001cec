"""Cones of chapter 3: sure starts against plain draws, sampled steps against closed forms."""

from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from featlearn.core.config import load
from featlearn.core.errors import FeatlearnError
from featlearn.core.seeds import Streams, generator
from featlearn.gradient_features.cones import (
    alignment,
    cone_of_sure,
    sampling_noise,
    sure_event,
    sure_weights,
    xor_ratio,
)
from featlearn.gradient_features.config import majority_plateau
from featlearn.gradient_features.data import Linear, Mixture, MultiIndex, Parity, Xor
from featlearn.gradient_features.experiments import cones
from featlearn.gradient_features.experiments.learning import lottery, structure
from featlearn.gradient_features.experiments.lemmas import nice
from featlearn.gradient_features.law import reduced_weights
from featlearn.gradient_features.model import symmetric_start

SURE = {
    "mixture": (Mixture(30, norm=5.0, classes=(1, -1, 1, -1)), 0.6),
    "xor": (Xor(30), 0.8),
    "parity": (Parity(30, 5, 1), 0.7),
    "parity_blocks": (Parity(30, 3, 3, 0.1, 0.2), 0.5),
}


def projections(law, w):
    return w[:, : law.own] @ law.directions[:, : law.own].mT


@pytest.mark.parametrize("name", SURE)
def test_sure_starts_are_those_of_plain_draws_that_are_sure(name):
    law, ratio = SURE[name]
    event = sure_event(law, ratio)
    plain = reduced_weights(law, 200_000, generator("plain"))
    z = projections(law, plain)
    others = z[:, 1:].abs() if event.two_sided else z[:, 1:]
    sure = (z[:, 0] >= event.low) & (others <= event.high).all(1)
    share = sure.double().mean().item()
    spread = (event.probability / len(plain)) ** 0.5
    assert share == pytest.approx(event.probability, abs=5 * spread)
    drawn = sure_weights(law, ratio, 20_000, generator("sure"))
    z = projections(law, drawn)
    assert (z[:, 0] >= event.low - 1e-9).all()
    wanted, found = plain[sure], drawn
    error = (wanted.var(0) / len(wanted) + found.var(0) / len(found)).sqrt()
    assert ((wanted.mean(0) - found.mean(0)).abs() <= 5 * error).all()
    assert ((wanted.std(0) - found.std(0)).abs() <= 6 * error).all()


def test_events_that_no_draw_meets_are_drawn():
    law = Mixture(100, norm=10.0)
    w = sure_weights(law, 7.0, 100, generator("rare"))
    assert sure_event(law, 7.0).probability < 1e-24
    assert w.isfinite().all()
    assert (w[:, 0] >= 10.5).all()
    off, size = cone_of_sure(law, 7.0, w)
    assert off.max() < 1e-4
    assert size.median().item() == pytest.approx(law.size, rel=0.02)


def test_alignment_is_a_cosine_or_share_and_the_xor_lemma_has_its_threshold():
    assert alignment(Xor(4), torch.tensor([[3.0, 4.0, 0, 0]])).item() == pytest.approx(0.8)
    assert alignment(MultiIndex(4), torch.tensor([[3.0, 4.0, 0, 0]])).item() == pytest.approx(1)
    assert alignment(Xor(4), torch.zeros(1, 4)).item() == 0
    assert xor_ratio(100, 2.0) == pytest.approx(2.472, abs=1e-3)


@pytest.mark.parametrize(
    ("name", "law"), [("xor", Xor(20)), ("multi_index", MultiIndex(12)), ("linear", Linear(10))]
)
def test_a_sampled_step_is_the_closed_form_with_noise(name, law):
    streams = Streams(0, "gradient_features", "test", range(2))
    frame = cones.neurons(name, law, 20_000, 1.0, 30, streams)
    # |G_n|^2 = |G|^2 + noise in the mean
    wanted = (frame["size"] ** 2 + frame["noise"]).mean()
    assert (frame["sampled_size"] ** 2).mean() == pytest.approx(wanted, rel=0.03)
    long = frame[frame["size"] > 0.5]
    assert (long["sampled"] - long["predicted"]).abs().mean() < 0.03
    assert set(frame["replicate"]) == {0, 1}


def test_the_error_of_sampled_gradients_is_that_of_a_mean():
    """It falls as n^(-1/2), where Lemma B.18 says n^(-1/3)."""
    law, streams = Xor(20, 1.0), Streams(0, "gradient_features", "test", range(1))
    start = symmetric_start(streams("start"), 10, 20, 1.0)
    wanted = law.gradient(start.w[0], start.b[0])
    x, y = (part[0] for part in law.sample(40 * 800, streams("inputs"))[:2])
    each = (x @ start.w[0].mT > start.b[0]).double() * y[:, None]  # (n, M)
    errors = {
        n: torch.stack([(e.mT @ part / n - wanted).square().sum(-1).mean()
                        for e, part in zip(each.split(n), x.split(n), strict=True)]).mean()
        for n in (50, 800)
    }  # fmt: skip
    assert (errors[50] / errors[800]).sqrt().item() == pytest.approx(4, rel=0.15)


def test_sampling_noise_is_the_variance_of_a_mean_over_samples():
    streams = Streams(0, "gradient_features", "noise", range(2))
    inputs = Xor(6, 1.0).sample(40, streams("inputs"))
    network = symmetric_start(streams("start"), 3, 6, 0.5)
    result = torch.full((2, len(network.w[0]), 6), 0.01, dtype=inputs.x.dtype)
    active = (inputs.x @ network.w.mT > network.b[:, None]).to(inputs.x.dtype)
    each = active[..., None] * (inputs.y[..., None] * inputs.x)[:, :, None]  # (R, n, M, d)
    wanted = (each.square().sum(-1).mean(1) - result.square().sum(-1)).clamp_min(0) / 40
    torch.testing.assert_close(sampling_noise(network, inputs, result), wanted)


ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("block", [3, 5, 9])
def test_the_plateau_is_the_accuracy_of_the_majority_by_enumeration(block):
    law = Parity(block + 1, block=block, blocks=1, structured=0.2)
    signal, weight, _ = law.patterns()
    right = (signal.sum(1).sign() == law.label(signal)).double()
    assert majority_plateau(block, 0.2) == pytest.approx((weight * right).sum().item())


def test_neurons_in_cones_are_chosen_and_as_many_by_chance():
    law = Xor(20, 1.0)
    streams = Streams(0, "gradient_features", "test", range(3))
    network = symmetric_start(streams("start"), 50, 20, 1.0)
    few = lottery(law, network, 0.6, 2, streams)
    assert few["in cones"].w.shape == few["by chance"].w.shape == (3, 2, 20)
    chosen = lottery(law, network, 0.6, 100, streams)
    inside = alignment(law, chosen["in cones"].w) > 0.4
    assert inside.all()
    assert chosen["by chance"].w.shape == chosen["in cones"].w.shape
    assert not (alignment(law, chosen["by chance"].w) > 0.4).all()
    # no neuron twice
    for weights, output in zip(chosen["in cones"].w, chosen["in cones"].a, strict=True):
        both = torch.cat([weights, output[:, None]], 1)
        assert len(torch.unique(both, dim=0)) == len(both)


def test_a_cone_that_holds_no_neuron_is_refused_by_its_key():
    law, streams = Xor(20, 1.0), Streams(0, "gradient_features", "test", range(2))
    network = symmetric_start(streams("start"), 5, 20, 1.0)
    with pytest.raises(FeatlearnError, match=r"lottery\.gamma: 1e-09"):
        lottery(law, network, 1e-9, 2, streams)
    with pytest.raises(FeatlearnError, match=r"lemmas\.nice: none of 20 starts with threshold 30"):
        list(nice(law, {"gamma": 0.05, "neurons": [10], "networks": 2, "threshold": 30}, streams))


@pytest.fixture(scope="module")
def with_and_without():
    """The parity of three with its structure and without: a few steps."""
    config = load({"scale": "smoke", "papers": ["gradient_features"]}, ROOT)
    own = config["gradient_features"]["structure"] | {
        "dimension": 12, "block": 3, "steps": 60, "samples": 200,
        "sets": {"train": 800, "validation": 100, "test": 500}, "structured": 0.3,
    }  # fmt: skip
    return structure(SimpleNamespace(config=own, seed=3, rule="test"))


def test_structure_puts_neurons_into_the_cone_which_uniform_inputs_do_not(with_and_without):
    hit = (with_and_without["neurons"]["sampled"] > 0.95).groupby(
        with_and_without["neurons"]["arm"]
    )
    assert hit.mean()["structured"] > 0.9
    assert hit.mean()["none"] < 0.1
