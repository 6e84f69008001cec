"""Algorithm 1 along its steps: the plateau, the chosen neurons, claims that can fail."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
import torch

from featlearn.core.config import load
from featlearn.core.seeds import Streams
from featlearn.gradient_features.claims.learning import claims
from featlearn.gradient_features.cones import alignment
from featlearn.gradient_features.config import faults, majority_plateau
from featlearn.gradient_features.data import Xor
from featlearn.gradient_features.experiments.learning import looks, lottery
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
    assert {1, 100} <= looks(100)
    assert max(looks(100)) == 100


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
        ("learning.laws.parity.block", 4, "learning.laws.parity.block: 4; expected an odd"),
        ("appendix.alternative.dimensions", [9, 10], "alternative.dimension: 10; expected an odd"),
        ("appendix.fixed.blocks", [4], "appendix.fixed.blocks: 4; expected odd numbers"),
        ("frozen.uniform_parity.two.dimension", 20, "two.dimension: 20; expected an odd"),
        ("frozen.uniform_parity.four.block", 3, "uniform_parity.four.block: 3; expected an even"),
        ("frozen.multi_index.curvatures", [0.0, 0.0], "curvatures: [0.0, 0.0]; expected one"),
        ("frozen.multi_index.quartics", [4.0, 4.0, 1.0], "quartics: [4.0, 4.0, 1.0]; expected at"),
        ("lemmas.mixture.classes", [1, 1], "lemmas.mixture.classes: [1, 1]; expected clusters"),
        ("lemmas.activation.laws.parity.block", 4, "laws.parity.block: 4; expected an odd"),
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
