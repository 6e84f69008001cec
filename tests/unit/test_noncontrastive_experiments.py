"""The experiments on prediction heads at tiny size, their claims, tables, figures and config."""

from __future__ import annotations

import copy
from pathlib import Path

import pandas as pd
import pytest
import torch
import yaml

from featlearn.core.claims import HOLDS, NOT_SHOWN, declared, ledger
from featlearn.core.config import load
from featlearn.core.seeds import Streams
from featlearn.noncontrastive.claims import algorithm as algorithm_claims
from featlearn.noncontrastive.claims import oracles as oracle_claims
from featlearn.noncontrastive.claims import phases as phase_claims
from featlearn.noncontrastive.claims import starts as start_claims
from featlearn.noncontrastive.config import faults
from featlearn.noncontrastive.data import PatchData
from featlearn.noncontrastive.experiments import phases, starts
from featlearn.noncontrastive.experiments.oracles import (
    COLUMNS,
    ROLE_COLUMNS,
    instance_rows,
    role_rows,
)
from featlearn.noncontrastive.figures.paper_items import sample_and_views
from featlearn.noncontrastive.figures.starts import effective_ratio
from featlearn.noncontrastive.population import State
from featlearn.noncontrastive.tables.oracles import closed_forms
from featlearn.noncontrastive.tables.oracles import roles as roles_table
from featlearn.noncontrastive.tables.phases import phase_exponents

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def config():
    return load({"scale": "smoke"}, ROOT)["noncontrastive"]


def test_the_scales_are_free_of_contradictions():
    for scale in ("smoke", "tour", "desk", "paper"):
        assert list(faults(load({"scale": scale}, ROOT)["noncontrastive"])) == []


@pytest.mark.parametrize(
    ("path", "value", "start"),
    [
        ("algorithm.data.patches", 7, "noncontrastive.algorithm.data.patches: 7; expected an even"),
        ("phases.data.feature_patches", 16, "noncontrastive.phases.data.feature_patches: 16;"),
        ("oracles.data.strengths", [1.0, 2.0], "noncontrastive.oracles.data.strengths: [1.0, 2.0]"),
        ("starts.cases.frequency.strong_share", 0.2, "noncontrastive.starts.cases.frequency.str"),
        ("algorithm.training.record_every", 7, "noncontrastive.algorithm.training.record_every: 7"),
        ("algorithm.variants.frozen.head_rate", 0.1, "noncontrastive.algorithm.variants.frozen"),
        ("phases.dimensions", [1000, 100], "noncontrastive.phases.dimensions: [1000, 100]"),
    ],
)
def test_a_contradiction_is_named(config, path, value, start):
    changed = copy.deepcopy(config)
    *groups, key = path.split(".")
    place = changed
    for group in groups:
        place = place[group]
    place[key] = value
    (line,) = faults(changed)
    assert line.startswith(start)
    assert "expected" in line


def test_claims_have_names_of_their_own(config):
    modules = (algorithm_claims, oracle_claims, phase_claims, start_claims)
    claims = [claim for module in modules for claim in declared(module, config)]
    names = [claim.claim for claim in claims]
    assert len(names) == len(set(names))
    assert all(claim.reason for claim in claims)


def test_constants_of_claims_on_sgd_are_those_of_the_config():
    """A head at its bound, and correlations of d**-1/2, count the same at every size and speed."""

    def measured(config):
        own = config["algorithm"]
        kappa = own["variants"]["head"]["head_rate"] / own["variants"]["head"]["learning_rate"]
        seen = {"e21": (kappa / 3) ** 0.5, "correlation": 1 - own["data"]["dimension"] ** -0.5}
        rows = [
            (variant, replicate, step, quantity, value)
            for variant in ("head", "frozen")
            for replicate in range(2)
            for step in (0, 1)
            for quantity, value in seen.items()
        ]
        columns = ["variant", "replicate", "step", "quantity", "value"]
        frames = {"history": pd.DataFrame(rows, columns=columns)}
        claims = {
            claim.claim.rpartition("/")[2]: claim for claim in declared(algorithm_claims, config)
        }
        return [claims[name].measure(frames) for name in ("fig-7a-head-rises", "corollary-4-4-sgd")]

    for scale in ("smoke", "paper"):
        for values in measured(load({"scale": scale}, ROOT)["noncontrastive"]):
            assert values.tolist() == pytest.approx([1.0, 1.0])


def test_starts_are_relabelled_and_do_not_depend_on_each_other():
    def drawn(replicates):
        streams = Streams(0, "noncontrastive", "starts-test", replicates)
        return starts.random_starts(20, 3, 4, streams("starts"))

    together, alone = drawn(range(3)), drawn([1])
    assert torch.equal(together.b[4:8], alone.b)
    first = together.b[..., 0].abs()
    assert (first[:, 0] >= first[:, 1:].amax(1)).all()
    assert together.square_norm.mean().item() == pytest.approx(1, abs=0.2)


def test_outcomes_have_a_word():
    assert starts.outcome(1, 1, 0) == "diverse"
    assert starts.outcome(2, 0, 0) == "strong"
    assert starts.outcome(0, 2, 0) == "weak"
    assert starts.outcome(1, 0, 1) == "undecided"


def test_a_settled_state_has_its_features_or_no_noise():
    def state(b, noise, head):
        b = torch.tensor([b], dtype=torch.float64)
        e = torch.tensor([[[0, head], [0, 0]]], dtype=torch.float64)
        return State(b, noise * torch.eye(2, dtype=torch.float64)[None], e)

    none = torch.tensor([0])
    assert starts.settled(state([[1, 0], [0, 1]], 1e-3, 0.0), none).all()
    assert not starts.settled(state([[1, 0], [0, 1]], 1e-2, 0.1), none).any()
    assert starts.settled(state([[1, 0], [1, 0]], 1e-4, 0.1), none).all()  # a flat direction
    assert starts.settled(state([[0.7, 0.7], [0, 1]], 1e-4, 0.0), none).all()
    assert not starts.settled(state([[0.7, 0.7], [0, 1]], 0.1, 0.0), none).any()


def test_a_start_whose_noise_fades_for_ever_ends():
    """It crawled: the size of a neuron that has its feature moves by rounding alone."""
    b = torch.tensor([[[0.178, -0.831], [-0.02, 0.21]]], dtype=torch.float64) / 1e3
    start = State(b, torch.eye(2).double().unsqueeze(0), torch.zeros(1, 2, 2).double())
    data = {"patches": 16, "feature_patches": 4}
    case = starts.Case(1_000_000, (2.0, 1.0), 0.1, 2, data)
    ended, stopped = starts.follow({"one": case}, {"one": start}, "head", end=1e4, rtol=1e-3)["one"]
    assert float(stopped) == starts.LATEST
    assert (starts.shares(ended).amax(-1) > 0.8).all()


def test_every_case_is_in_the_rows_and_the_head_makes_the_difference(config):
    settings = config["starts"]
    cases = {
        name: starts.Case.from_config(settings["cases"][name], settings["data"])
        for name in ("base", "together")
    }
    streams = Streams(5, "noncontrastive", "starts-test", range(3))
    small = {**settings, "replicates": 3, "starts": 4}
    rows = starts.all_rows(cases, ["head", "frozen"], small, streams)
    frame = pd.DataFrame(rows, columns=starts.COLUMNS)
    assert len(frame) == 2 * 2 * 12
    assert frame[frame["mode"] == "frozen"]["as_ruled"].mean() > 0.9
    diverse = (frame["outcome"] == "diverse").groupby(frame["mode"]).mean()
    assert diverse["head"] > diverse["frozen"]
    # Remark 3.2: features that occur together change the clock and not the end, so no claim is made
    alone, together = (frame[frame["case"] == case]["outcome"].tolist() for case in cases)
    assert alone == together


def test_perturbed_starts_have_unit_norm_and_the_same_draws_at_every_dimension():
    streams = Streams(0, "noncontrastive", "phases-test", range(4))
    small = phases.perturbed_starts(100, 0.25, streams("starts"))
    large = phases.perturbed_starts(10000, 0.25, streams("starts"))
    torch.testing.assert_close(small.b, 10 * large.b)
    torch.testing.assert_close(small.square_norm, torch.ones_like(small.square_norm))
    assert (small.b[:, 0, 0].abs() > small.b[:, 1, 0].abs()).all()


def test_bands_of_a_small_run_are_out_of_reach(config):
    names = [*phases.EVENTS, "phase_1", "phase_2", "phase_3"]
    rows = [("base", d, r, name, 1.0) for d in (100.0, 1000.0) for r in range(2) for name in names]
    frame = pd.DataFrame(rows, columns=phases.COLUMNS)
    chosen = [c for c in phase_claims.claims(config) if c.claim.endswith("phase-1-exponent")]
    assert ledger(chosen, {"times": frame}, config)["verdict"].tolist() == [NOT_SHOWN]


def test_oracles_hold_and_misprints_show(config):
    settings = {**config["oracles"], "samples": 200}
    streams = Streams(1, "noncontrastive", "oracle-test", range(2))
    frame = pd.DataFrame(instance_rows(settings, streams), columns=COLUMNS)
    means = frame.groupby("quantity")["value"].mean()
    assert means["gradient_2"] < 1e-10
    assert means["named_terms"] < 1e-10
    assert means["printed_signal"] == pytest.approx(1 / 3)
    assert means["printed_noise"] == pytest.approx(2)
    exact = [c for c in oracle_claims.CLAIMS if c.high == 1e-9]
    assert exact
    assert set(ledger(exact, {"instances": frame}, config)["verdict"]) == {HOLDS}
    page = closed_forms(frame)
    assert len(page.shown) == len(page.frame) > 10


def test_section_5_3_is_judged_on_random_states(config):
    roles = {**config["oracles"]["roles"], "states": 40}
    spec = PatchData.from_config(roles["data"])
    streams = Streams(1, "noncontrastive", "oracle-test", range(2))
    frame = pd.DataFrame(role_rows(spec, roles, streams), columns=ROLE_COLUMNS)
    assert len(frame) == 4 * 2 * 2 * 40
    claims = [c for c in oracle_claims.CLAIMS if "/roles-" in c.claim]
    measured = {c.claim.rpartition("-")[2]: c.measure({"roles": frame}).mean() for c in claims}
    assert measured["both"] > 0.9
    assert max(value for name, value in measured.items() if name != "both") < 0.2
    # without normalisation the head is no part of the push: no claim of its own
    wins = {
        (variant, entry): own["weak"].gt(own["strong"]).tolist()
        for (variant, entry), own in frame.groupby(["variant", "e21"])
    }
    head = frame["e21"].max()
    bare = wins["no normalisation, StopGrad", head]
    assert bare == wins["batch normalisation, StopGrad", frame["e21"].min()]
    page = roles_table(frame)
    assert len(page.shown) == 8


def test_other_cases_change_the_law_alone_and_have_exponents(config):
    changed = phases.case_configs(config["phases"])
    assert list(changed) == ["base", *config["phases"]["others"]]
    other = changed["closer"]
    assert other["data"]["strengths"] == [3.0, 2.0]
    assert other["replicates"] == changed["base"]["replicates"]
    rows = [
        (case, float(d), r, f"phase_{phase}", (r + 1) * float(d) ** power)
        for case, own in changed.items()
        for d in own["dimensions"]
        for r in range(2)
        for phase, power in ((1, 2.0), (2, 1.5), (3, 1.625))
    ]
    frame = pd.DataFrame(rows, columns=phases.COLUMNS)
    claims = {c.claim.rpartition("/")[2]: c for c in phase_claims.claims(config)}
    assert claims["phase-3-exponent-closer"].measure({"times": frame}) == pytest.approx([1.625] * 2)
    page = phase_exponents(frame, config["phases"])
    assert page.shown["II (3/2)"].tolist() == ["1.5", "1.5"]


def test_the_ratio_of_pushes_is_that_of_the_named_gains_once_the_head_substitutes(config):
    """Lemma D.8: with ``|E_21|`` at work and little noise in neuron 1."""
    streams = Streams(0, "noncontrastive", "phases-test", range(2))
    flow = phases.Phases({**config["phases"], "dimensions": [10**6]}, streams)
    b = torch.tensor([[[1.2, 1e-3], [1e-3, 1e-3]]], dtype=torch.float64)
    g = torch.diag_embed(torch.tensor([[1e-4, 0.3]], dtype=torch.float64))
    e = torch.tensor([[[0.0, 0.0], [0.15, 0.0]]], dtype=torch.float64)
    race = flow.race(State(b, g, e), flow.law[:1])
    assert race["gain_ratio"].item() == pytest.approx(race["h_ratio"].item() / 64)
    assert race["h_ratio"].item() > 5
    without = flow.race(State(b, g, 0 * e), flow.law[:1])
    assert without["gain_ratio"].item() == pytest.approx(1 / 64, rel=1e-3)
    assert without["push_ratio"].item() == pytest.approx(1 / 64, rel=1e-3)


def test_effective_ratio_puts_frequency_into_strength():
    assert effective_ratio({"strengths": [2.0, 1.0]}) == pytest.approx(0.5)
    found = effective_ratio({"strengths": [2.0, 2.0], "strong_share": 64 / 65})
    assert found == pytest.approx(0.5)


def test_the_schematic_shows_each_patch_in_one_view():
    drawn = sample_and_views()
    texts = [text.get_text() for text in drawn.axes[0].texts]
    assert texts.count("0") == 16


def test_the_wanted_figures_are_in_the_catalogue():
    listed = yaml.safe_load((ROOT / "config/catalogue.yaml").read_text(encoding="utf-8"))["items"]
    items = {entry["item"] for entry in listed}
    assert {"noncontrastive/fig-6", "noncontrastive/fig-7"} <= items
