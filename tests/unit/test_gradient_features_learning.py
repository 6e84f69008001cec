"""Algorithm 1 along its steps: the plateau, the chosen neurons, claims that can fail."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest
import torch

from featlearn.core.config import load
from featlearn.core.errors import FeatlearnError
from featlearn.core.seeds import Streams
from featlearn.gradient_features.claims.learning import claims
from featlearn.gradient_features.claims.structure import claims as of_structure
from featlearn.gradient_features.cones import alignment
from featlearn.gradient_features.config import faults, majority_plateau
from featlearn.gradient_features.data import Xor
from featlearn.gradient_features.experiments.frames import looks
from featlearn.gradient_features.experiments.learning import lottery, structure
from featlearn.gradient_features.experiments.lemmas import nice
from featlearn.gradient_features.model import symmetric_start
from featlearn.gradient_features.parities import Parity

ROOT = Path(__file__).resolve().parents[2]
CONFIG = {
    "learning": {
        "laws": {"parity": {"block": 5, "structured": 0.2, "steps": 100}},
        "lottery": {"law": "xor", "tickets": 20},
    }
}
LEVEL = 0.8125


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


def test_looks_begin_at_one_and_end_at_the_last_step():
    at = looks(100, 8)
    assert at == sorted(set(at))
    assert (at[0], at[-1]) == (1, 100)


def frames(plateau=LEVEL, end=1.0, cones=0.9, chance=0.8, last=0.999, head=0.8):
    def row(law, arm, step, value):
        return [
            {"law": law, "arm": arm, "part": "all", "step": step, "replicate": r, "value": value}
            for r in range(5)
        ]

    curves = [*row("parity", "network", 50, plateau), *row("parity", "network", 6000, end)]
    for arm, early in {"network": cones, "in cones": cones, "by chance": chance}.items():
        curves += row("xor", arm, 10, early) + row(
            "xor", arm, 200, last if arm == "in cones" else 1
        )
    heads = [{"law": "parity", "method": "linear", "replicate": r, "value": head} for r in range(5)]
    return {"curves": pd.DataFrame(curves), "heads": pd.DataFrame(heads)}


@pytest.mark.parametrize(
    ("claim", "bad"),
    [
        ("parity-plateau", {"plateau": 0.85}),
        ("parity-plateau", {"plateau": 0.797}),
        ("parity-learned", {"end": LEVEL}),
        ("parity-learned", {"head": 0.95}),
        ("lottery-suffices", {"last": 0.95}),
        ("lottery-beats-chance", {"chance": 0.9}),
    ],
)
def test_claims_hold_and_fail(claim, bad):
    one = next(own for own in claims(CONFIG) if own.claim == f"gradient_features/{claim}")
    assert one.low <= one.measure(frames()).mean() <= one.high
    assert not one.low <= one.measure(frames(**bad)).mean() <= one.high


@pytest.mark.parametrize(
    ("place", "value", "told"),
    [
        ("cones.sure.ratios", [1.0, 20.0], "cones.sure.ratios.1: 20.0; expected at most 14"),
        ("lemmas.activation.ratios", [1.0, 40.0], "activation.ratios.1: 40.0; expected at most 14"),
        ("cones.laws.parity.structured", 0.0, "parity.structured: 0.0; expected more than 0"),
        ("frozen.scan.dimensions", [2, 10], "scan.dimensions.0: 2; expected at least 3"),
        ("structure.structured", 0.0, "structure.structured: 0.0; expected more than 0"),
    ],
)
def test_a_value_that_gives_no_number_is_out_of_range(place, value, told):
    own: dict = {"scale": "smoke", "papers": ["gradient_features"]}
    group = own
    *groups, key = f"gradient_features.{place}".split(".")
    for name in groups:
        group = group.setdefault(name, {})
    group[key] = value
    with pytest.raises(FeatlearnError, match=re.escape(told)):
        load(own, ROOT)


def test_a_cone_that_holds_no_neuron_is_refused_by_its_key():
    law, streams = Xor(20, 1.0), Streams(0, "gradient_features", "test", range(2))
    network = symmetric_start(streams("start"), 5, 20, 1.0)
    with pytest.raises(FeatlearnError, match=r"lottery\.gamma: 1e-09"):
        lottery(law, network, 1e-9, 2, streams)
    with pytest.raises(FeatlearnError, match=r"lemmas\.nice: none of 20 starts with threshold 30"):
        list(nice(law, {"gamma": 0.05, "neurons": [10], "networks": 2, "threshold": 30}, streams))


@pytest.fixture(scope="module")
def with_and_without():
    """The parity of three with its structure and without: one replicate, a few steps."""
    config = load({"scale": "smoke", "papers": ["gradient_features"]}, ROOT)
    own = config["gradient_features"]["structure"] | {
        "dimension": 12, "first_samples": 2000, "steps": 60, "samples": 200,
    }  # fmt: skip
    return structure(SimpleNamespace(config=own, seed=3, rule="test"))


def test_structure_puts_neurons_into_the_cone_which_uniform_inputs_do_not(with_and_without):
    hit = (with_and_without["neurons"]["sampled"] > 0.95).groupby(
        with_and_without["neurons"]["arm"]
    )
    assert hit.mean()["structured"] > 0.9
    assert hit.mean()["none"] < 0.1


def test_both_arms_are_tested_on_uniform_inputs_alone(with_and_without):
    assert set(with_and_without["curves"]["part"]) == {"all"}
    # a constant block of three is never a majority rule's mistake: uniform inputs are, mostly
    first = with_and_without["curves"].query("step == 1 and arm == 'structured'")["value"]
    assert (first < 0.5).all()


@pytest.mark.parametrize(
    ("claim", "bad"),
    [
        ("structure-worth", {"end": 0.5}),
        ("structure-worth", {"without": 0.9}),
        ("structure-worth", {"head": 0.9}),
        ("structure-first-step", {"found": 0.5}),
        ("structure-first-step", {"by_chance": 0.99}),
    ],
)
def test_claims_on_structure_hold_and_fail(claim, bad):
    def seen(end=1.0, without=0.5, head=0.52, found=0.99, by_chance=0.2):
        arms = (("structured", end, found), ("none", without, by_chance))
        return {
            "curves": pd.DataFrame([
                {"arm": arm, "step": step, "part": "all", "replicate": r, "value": value}
                for arm, value, _ in arms for r in range(5) for step in (1, 500)
            ]),
            "neurons": pd.DataFrame([
                {"arm": arm, "replicate": r, "neuron": 0, "sampled": value}
                for arm, _, value in arms for r in range(5)
            ]),
            "heads": pd.DataFrame([
                {"arm": "structured", "method": "linear", "replicate": r, "value": head}
                for r in range(5)
            ]),
        }  # fmt: skip

    config = {"structure": {"structured": 0.2, "gamma": 0.05, "first_samples": 10000}}
    one = next(own for own in of_structure(config) if own.claim == f"gradient_features/{claim}")
    assert one.low <= one.measure(seen()).mean() <= one.high
    assert not one.low <= one.measure(seen(**bad)).mean() <= one.high


@pytest.mark.parametrize(
    ("place", "value", "told"),
    [
        ("learning.laws.parity.block", 4, "learning.laws.parity.block: 4; expected an odd"),
        ("appendix.alternative.dimensions", [9, 10], "alternative.dimension: 10; expected an odd"),
        ("appendix.fixed.blocks", [4], "appendix.fixed.blocks: 4; expected odd numbers"),
        ("frozen.uniform_parity.two.dimension", 20, "two.dimension: 20; expected an odd"),
        ("frozen.uniform_parity.four.block", 3, "uniform_parity.four.block: 3; expected an even"),
        ("frozen.multi_index.curvatures", [0.0, 0.0], "curvatures: [0.0, 0.0]; expected one"),
        ("frozen.multi_index.quartics", [4.0, 4.0, 1.0], "quartics: [4.0, 4.0, 1.0]; expected at"),
        ("lemmas.mixture.classes", [1, 1], "lemmas.mixture.classes: [1, 1]; expected clusters"),
        ("lemmas.activation.laws.parity.block", 4, "laws.parity.block: 4; expected an odd"),
        ("lemmas.tails.dimensions", [10, 50], "tails.dimensions: 10; expected more than twice"),
        ("frozen.scan.ratios", [0.001, 1.0], "scan.ratios: 0.001; expected one input or more"),
        ("learning.laws.parity.structured", 0.01, "structured: 0.01; expected ten structured"),
        ("learning.laws.parity.structured", 0.5, "structured: 0.5; expected ten uniform"),
        ("structure.block", 4, "structure.block: 4; expected an odd"),
        ("structure.dimension", 3, "structure.block: 1 x 3 coordinates; expected fewer than"),
    ],
)
def test_a_bad_law_of_each_section_is_named(place, value, told):
    own = config = load({"scale": "smoke", "papers": ["gradient_features"]}, ROOT)
    *groups, key = f"gradient_features.{place}".split(".")
    for group in groups:
        own = own[group]
    own[key] = value
    (fault,) = faults(config["gradient_features"])
    assert fault.startswith("gradient_features.")
    assert told in fault
