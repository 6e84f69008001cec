"""Experiments of chapter 2 on tiny problems: what they choose and what they record."""

import pandas as pd
import pytest
import torch

from featlearn.core.errors import DivergedError
from featlearn.core.evidence.claims import declared
from featlearn.core.evidence.frames import tidy
from featlearn.core.run.config import load
from featlearn.core.seeds import Streams, generator
from featlearn.core.training.heads import choose
from featlearn.emergence.analysis import curves as shown
from featlearn.emergence.analysis import general, neurons
from featlearn.emergence.data import Law
from featlearn.emergence.experiments import curves, mixture
from featlearn.emergence.experiments.general import General
from featlearn.emergence.frames import accuracies, is_measured
from featlearn.emergence.model import Network, with_one
from featlearn.gradient_features.analysis import opponents, structure
from unit import ROOT, job_of


@pytest.fixture(scope="module")
def section():
    return load({"scale": "smoke"}, ROOT)["emergence"]


def test_rates_are_those_that_do_best_on_the_pilot(section, monkeypatch):
    """The network counts at its end, a fixed-feature model at its best; what overflows is out."""
    found = {10.0: (0.6, 0.9), 1.0: (0.95, 0.7), 5.0: None}
    problems = []

    def trained(problem, arm, stage, told, looked):
        problems.append(problem)
        if found[stage["head_rate"]] is None:
            raise DivergedError("overflow")
        curve = {step: torch.full((len(curves.RECORDED), 1), value) for step, value in
                 enumerate(found[stage["head_rate"]])}  # fmt: skip
        return None, curve

    monkeypatch.setattr(curves, "trained", trained)
    rates = [{"head_rate": rate} for rate in (5.0, 10.0, 1.0)]
    cell = {**section["curves"]["parity"], "training": rates, "ntk": rates, "rf": rates[:1]}
    own = job_of(cell, wildcards={"cell": "parity"})
    stages = curves.chosen_stages(cell, curves.arms_of(cell), lambda: curves._pilot(own), print)
    chosen = {arm: stage["head_rate"] for arm, stage in stages.items()}
    assert chosen == {"network": 10.0, "rf": 5.0, "ntk": 1.0}
    assert {len(each.world.relevant) for each in problems} == {1}


def test_unequal_classes_have_an_arm_without_weights_and_a_mean_over_both_labels(section):
    cell = section["curves"]["negatives-90"]
    values = curves.measure(job_of(cell, wildcards={"cell": "negatives-90"}))["values"]
    assert is_measured(values, "negatives-90", "unweighted")
    assert not values.loc[~values["structured"], "arm"].eq("unweighted").any()
    whole, both = (accuracies(values, "negatives-90", "majority", part).tolist()
                   for part in ("test", "balanced"))  # fmt: skip
    assert (whole, both) == ([0.9, 0.9], [0.5, 0.5])
    for arm in ("network", "unweighted", "ntk", "rf", "rbf", "two_step", "linear"):
        assert accuracies(values, "negatives-90", arm, "balanced").between(0.4, 1).all()


def test_the_plain_loss_moves_the_bias_by_the_mean_label(section):
    """Which the weights keep from it: after two steps most neurons are out of their range."""
    cell = section["curves"]["negatives-90"]
    streams = Streams(0, "test", "weights", range(2))
    own = curves.Problem(Law.from_config(cell["data"]), cell, streams, torch.device("cpu"))
    moved = [(network.b - own.practical[0].b).abs().mean()
             for network in (own.practical[1], own.unweighted[1])]  # fmt: skip
    assert moved[1] > 3 * moved[0]


def test_the_rbf_kernel_finds_what_a_circle_divides():
    stream = generator("circle")
    x = torch.randn(1, 900, 2, generator=stream).double()
    x = x / x.square().sum(2).mean().sqrt()
    y = (x.square().sum(2) > 0.7).long()[..., None]
    places = dict(zip(curves.PARTS, (slice(500), slice(500, 700), slice(700, 900)), strict=True))
    labels = {part: y[:, at] for part, at in places.items()}
    own = curves._fourier({part: with_one(x[:, at]) for part, at in places.items()}, labels, stream)
    assert own["test"].shape == (1, 200, curves.FOURIER)
    both = {part: (own[part], labels[part]) for part in curves.PARTS}
    found = choose(both["train"], both["validation"], 1, curves.KERNEL_PENALTIES)
    assert float(found.heads.accuracy(*both["test"])) > 0.93
    inputs = {part: x[:, at] for part, at in places.items()}
    linear = choose(
        (inputs["train"], labels["train"]), (inputs["validation"], labels["validation"]), 1
    )
    assert float(linear.heads.accuracy(inputs["test"], labels["test"])) < 0.7


def test_the_general_setting_reads_its_patterns_and_is_the_other_without_overlap_and_noise(section):
    cell = section["general"]
    streams = Streams(0, "test", "general", range(2))
    own = General(0.1, cell, streams, torch.device("cpu"))
    assert own.x["train"].shape == (2, 400, cell["dimension"] + 1)
    assert own.x["test"][..., :-1].square().sum(2).mean().item() == pytest.approx(1, abs=0.05)
    assert own.read == [1.0, 1.0]
    loud = General(2.0, cell, streams, torch.device("cpu"))
    assert max(loud.read) < 0.7
    orthonormal = General(0.0, {**cell, "spread": 0.0}, streams, torch.device("cpu"))
    plain = curves.Problem(orthonormal.law, cell, streams, torch.device("cpu"))
    patterns = orthonormal.x["train"][..., :-1] @ orthonormal.columns.float()
    assert torch.allclose(patterns, plain.x["train"][..., :-1], atol=1e-5)
    assert max(orthonormal.mu) < 1e-12


def test_neurons_at_the_centres_cover_them_and_have_the_sign_that_they_are_given(section):
    setting = section["mixture"]["settings"]["third"]
    problem = mixture.Problem(setting, 40, Streams(0, "test", "mixture", range(2)), "cpu")
    rows = torch.cat([problem.centres, torch.zeros(2, 8, 1)], -1)
    a = problem.labels.expand(2, -1).clone()
    a[:, 0] *= -1
    own = dict(zip(mixture.RECORDED, problem.recorded(Network(rows, a)), strict=True))
    assert own["worst"].min() > 0.999
    for name, wanted in {"covered": 1.0, "aligned": 1.0, "sign": 7 / 8}.items():
        assert own[name].tolist() == pytest.approx([wanted] * 2)
    at_random = dict(zip(mixture.RECORDED, problem.recorded(problem.start), strict=True))
    assert at_random["worst"].max() < 0.9


def test_the_tangent_kernel_counts_where_validation_is_best():
    axes = {"cell": ["parity"], "structured": [True], "arm": ["ntk"], "replicate": range(2),
            "quantity": ["validation", "test"], "step": [10, 20, 30]}  # fmt: skip
    curves = [[(0.5, 0.9, 0.8), (0.4, 0.7, 0.95)], [(0.6, 0.5, 0.7), (0.1, 0.2, 0.3)]]
    frame = tidy(axes, value=curves)
    assert accuracies(frame, "parity", "ntk", "test").tolist() == [0.7, 0.3]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({}, None),
        ({"data": {"background": 0.3}}, "background"),
        ({"data": {"relevant": 3}}, "relevant"),
        ({"dimensions": [500]}, "100 and 2000"),
    ],
)
def test_claims_are_of_the_data_that_their_bands_were_derived_for(change, said):
    config = load({"scale": "desk", "emergence": {"curves": {"parity": change}}}, ROOT)["emergence"]
    claims = {one.claim: one for one in declared(shown, config)}
    reason = claims["emergence/one-step-cosine-falls"].out_of_reach(config)
    assert reason is None if said is None else said in reason
    assert claims["emergence/network-interval"].out_of_reach(config) is None


@pytest.mark.parametrize(("where", "change", "name"), [
    (general, {"general": {"data": {"relevant": 7}}}, "general-beats-fixed"),
    (structure, {"structure": {"block": 7}}, "structure-worth"),
    (opponents, {"opponents": {"judged": {"noise": 6.0}}}, "xor-beats-best-opponent"),
])  # fmt: skip
def test_a_larger_problem_is_another_one(where, change, name):
    paper = where.__name__.split(".")[1]
    for own, right in (({}, True), (change, False)):
        config = load({"scale": "desk", paper: own}, ROOT)[paper]
        (one,) = (one for one in declared(where, config) if one.claim == f"{paper}/{name}")
        assert (one.out_of_reach(config) is None) == right


def test_neurons_of_a_network_that_has_not_learned_have_not_gathered(section):
    moments = (("directions", 0, 20.0), ("directions", 9, 2.0), ("train", 9, 1.0))
    rows = [("mnist", 1.0, *moment[:2], 0, moment[2]) for moment in moments]
    rows += [("mnist", 1.0, *moment[:2], 1, moment[2]) for moment in moments[:2]]
    rows += [("mnist", 1.0, "train", 9, 1, 0.7)]
    frame = pd.DataFrame(rows, columns=["cell", "start", "quantity", "step", "replicate", "value"])
    (claim,) = declared(neurons, section)
    assert list(claim.measure({"values": frame})) == [0.1, 1.0]
