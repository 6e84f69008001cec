"""Algorithm 1 along its steps: the plateau, the chosen neurons, claims that can fail."""

from __future__ import annotations

import pandas as pd
import pytest
import torch

from featlearn.core.seeds import Streams
from featlearn.gradient_features.claims.learning import claims
from featlearn.gradient_features.cones import alignment
from featlearn.gradient_features.config import faults, majority_plateau
from featlearn.gradient_features.data import Xor
from featlearn.gradient_features.experiments.learning import looks, lottery
from featlearn.gradient_features.model import symmetric_start
from featlearn.gradient_features.parities import Parity

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


def test_a_bad_law_of_the_curves_is_named():
    config = {
        "cones": {"laws": {"parity": {"block": 3, "blocks": 1, "structured": 0.1, "dimension": 9},
                           "parity_blocks": {"block": 3, "blocks": 3, "structured": 0.1,
                                             "dimension": 12}}},
        "learning": {"laws": {"parity": {"block": 4, "structured": 0.2, "dimension": 9}}},
        "opponents": {"judged": {"dimension": 5, "noise": 1.0}, "dimensions": [5],
                      "noises": [1.0]},
        "appendix": {"alternative": {"block": 2, "dimensions": [9]}, "fixed": {"blocks": [3]}},
    }  # fmt: skip
    (fault,) = faults(config)
    assert fault.startswith("gradient_features.learning.laws.parity.block: 4; expected an odd")
    config["learning"]["laws"]["parity"]["block"] = 3
    config["appendix"] = {"alternative": {"block": 2, "dimensions": [9, 10]},
                          "fixed": {"blocks": [4]}}  # fmt: skip
    even, blocks = faults(config)
    assert even.startswith("gradient_features.appendix.alternative.dimension: 10; expected an odd")
    assert blocks == "gradient_features.appendix.fixed.blocks: 4; expected odd numbers"
