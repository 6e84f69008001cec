"""Cones of chapter 3: sure starts against plain draws, sampled steps against closed forms."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
import torch

from featlearn.core.config import load
from featlearn.core.errors import ConfigError
from featlearn.core.seeds import Streams, generator
from featlearn.gradient_features import config as own_config
from featlearn.gradient_features.claims.cones import claims
from featlearn.gradient_features.cones import (
    alignment,
    cone_of_sure,
    sure_event,
    sure_weights,
    xor_ratio,
)
from featlearn.gradient_features.data import Linear, Mixture, MultiIndex, Xor
from featlearn.gradient_features.experiments import cones
from featlearn.gradient_features.law import reduced_weights
from featlearn.gradient_features.parities import Parity

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


def test_laws_without_sure_starts_say_so():
    with pytest.raises(ValueError, match="Linear"):
        sure_event(Linear(5), 1.0)


def test_alignment_is_a_cosine_and_of_several_curvatures_a_share():
    assert alignment(Xor(4), torch.tensor([[3.0, 4.0, 0, 0]])).item() == pytest.approx(0.8)
    assert alignment(MultiIndex(4), torch.tensor([[3.0, 4.0, 0, 0]])).item() == pytest.approx(1)
    assert alignment(Xor(4), torch.zeros(1, 4)).item() == 0


def test_the_threshold_of_the_xor_lemma():
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
    streams = Streams(0, "gradient_features", "test", range(3))
    settings = {"samples": [50, 800], "neurons": 10}
    frame = pd.DataFrame(cones.concentration(settings, {"dimension": 20, "noise": 1.0}, streams))
    means = frame.groupby("samples")["value"].mean()
    assert means[50] / means[800] == pytest.approx(4, rel=0.15)


# --------------------------------------------------------------------------- config and claims


ROOT = Path(__file__).resolve().parents[2]


def smoke():
    return load({"scale": "smoke", "papers": ["gradient_features"]}, ROOT)["gradient_features"]


def test_the_scales_are_valid():
    assert list(own_config.faults(smoke())) == []


@pytest.mark.parametrize(
    ("law", "change", "told"),
    [
        ("mixture", {"classes": [1, 1]}, "mixture.classes: [1, 1]; expected clusters of both"),
        ("mixture", {"dimension": 5}, "mixture.classes: 6 clusters; expected fewer than"),
        ("parity", {"block": 4}, "parity.block: 4; expected an odd number"),
        ("parity", {"dimension": 5}, "parity.block: 1 x 5 coordinates; expected fewer than"),
        ("parity", {"structured": 0.6}, "parity.structured: 0.6; expected at most 1 / 2"),
        ("parity", {"blocks": 3, "block": 3}, "parity.blocks: 3; expected 1"),
        ("parity_blocks", {"blocks": 1}, "parity_blocks.blocks: 1; expected several blocks"),
        ("parity_blocks", {"block": 5}, "expected at most 11"),
        ("uniform_parity", {"block": 3}, "uniform_parity.block: 3; expected an even number"),
        ("uniform_parity", {"dimension": 20}, "uniform_parity.dimension: 20; expected an odd"),
        ("multi_index", {"curvatures": [0.0]}, "multi_index.curvatures: [0.0]; expected one"),
    ],
)
def test_contradictions_are_told_by_key(law, change, told):
    section = smoke()
    section["cones"]["laws"][law] |= change
    assert any(told in line for line in own_config.faults(section)), list(
        own_config.faults(section)
    )


def test_claims_compare_where_something_is_measured():
    section = smoke()
    section["opponents"]["judged"] = {"dimension": 20, "noise": 3.0}
    assert [line.partition(";")[0] for line in own_config.faults(section)] == [
        "gradient_features.opponents.judged.noise: 3.0"
    ]


def test_an_unknown_law_is_refused_by_name():
    given = {"gradient_features": {"cones": {"laws": {"cubic": {"dimension": 3}}}}}
    with pytest.raises(ConfigError, match="cubic"):
        load({"scale": "smoke", "papers": ["gradient_features"], **given}, ROOT)


def frames(**change):
    """Frames in which every claim of the cones is as the theory says, but for what is changed."""
    replicates = range(10)
    shares = {"linear": 0.5, "uniform_parity": 0.5}
    rows = [
        {
            "law": law,
            "replicate": r,
            "sampled": 0.99 if i < 100 * share else 0.1,
            "sampled_size": 1,
            "population": 0.99 if i < 50 else 0.1,
        }
        for law, share in (shares | change.get("shares", {})).items()
        for r in replicates
        for i in range(100)
    ]
    sure = [
        {"law": law, "ratio": ratio, "replicate": r, "sure_hit": change.get("sure_hit", 1.0),
         "sure_size": change.get("sure_size", 1.0), "partner_hit": change.get("partner", 1.0)}
        for law in ("mixture", "parity", "parity_blocks") for ratio in (1, 4) for r in replicates
    ]  # fmt: skip
    power = change.get("power", -0.25)
    spread = [
        {"dimension": d, "replicate": r, "in_cone": change.get("cone", 3.0) * d**power}
        for d in (1000, 100_000) for r in replicates
    ]  # fmt: skip
    error = [
        {"samples": n, "replicate": r, "value": n ** change.get("error", -0.5)}
        for n in (100, 6400) for r in replicates
    ]  # fmt: skip
    tables = {"neurons": rows, "sure": sure, "dimensions": spread, "concentration": error}
    return {name: pd.DataFrame(part) for name, part in tables.items()}


CONFIG = {"cones": {"gamma": 0.05, "laws": {"uniform_parity": {"block": 2}}}}


@pytest.mark.parametrize(
    ("claim", "good", "bad"),
    [
        ("cones-linear", {}, {"shares": {"linear": 0.3}}),
        ("cones-uniform-parity", {}, {"shares": {"uniform_parity": 0.3}}),
        ("cones-mixture", {}, {"sure_hit": 0.9}),
        ("cones-mixture-size", {}, {"sure_size": 0.7}),
        ("cones-parity-size", {}, {"sure_size": 0.7}),
        ("cones-parity-negative", {}, {"partner": 0.0}),
        ("cones-xor-as-printed", {"cone": 1.0, "power": 0}, {}),
        ("cones-xor-decay", {}, {"power": -0.5}),
        ("cones-concentration", {}, {"error": -1 / 3}),
    ],
)
def test_each_claim_holds_where_the_theory_does_and_fails_elsewhere(claim, good, bad):
    by_name = {one.claim: one for one in claims(CONFIG)}
    one = by_name[f"gradient_features/{claim}"]
    assert one.low <= one.measure(frames(**good)).mean() <= one.high
    assert not one.low <= one.measure(frames(**bad)).mean() <= one.high


def test_a_small_scale_is_out_of_reach():
    for one in claims(CONFIG):
        assert one.out_of_reach is not None
        assert one.out_of_reach(smoke()) is not None
