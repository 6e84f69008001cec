"""The experiments on prediction heads at tiny size, their claims, tables, figures and config."""

import pandas as pd
import pytest
import torch

from featlearn.core.evidence.claims import declared
from featlearn.core.run.config import load
from featlearn.core.seeds import Streams
from featlearn.noncontrastive.analysis import oracles
from featlearn.noncontrastive.analysis import phases as phase_analysis
from featlearn.noncontrastive.data import PatchData
from featlearn.noncontrastive.experiments import phases, starts
from featlearn.noncontrastive.experiments.oracles import instances, role_frames
from featlearn.noncontrastive.population import State
from unit import ROOT


@pytest.fixture(scope="module")
def config():
    return load({"scale": "smoke"}, ROOT)["noncontrastive"]


COLUMNS = ["case", "dimension", "replicate", "quantity", "value"]


def by_name(module, config):
    return {claim.claim.rpartition("/")[2]: claim for claim in declared(module, config)}


def test_starts_are_relabelled_and_do_not_depend_on_each_other():
    def drawn(replicates):
        streams = Streams(0, "noncontrastive", "starts-test", replicates)
        return starts.random_starts(20, 3, 4, streams("starts"))

    together, alone = drawn(range(3)), drawn([1])
    assert torch.equal(together.b[4:8], alone.b)
    first = together.b[..., 0].abs()
    assert (first[:, 0] >= first[:, 1:].amax(1)).all()
    assert together.square_norm.mean().item() == pytest.approx(1, abs=0.2)


def test_outcomes_have_a_word_and_a_settled_state_its_features_or_no_noise():
    assert starts.outcome(1, 1, 0) == "diverse"
    assert starts.outcome(2, 0, 0) == "strong"
    assert starts.outcome(0, 2, 0) == "weak"
    assert starts.outcome(1, 0, 1) == "undecided"

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


@pytest.mark.long
def test_a_start_whose_noise_fades_for_ever_ends():
    """It crawled: the size of a neuron that has its feature moves by rounding alone."""
    b = torch.tensor([[[0.178, -0.831], [-0.02, 0.21]]], dtype=torch.float64) / 1e3
    start = State(b, torch.eye(2).double().unsqueeze(0), torch.zeros(1, 2, 2).double())
    case = starts.Case(PatchData(1_000_000, 16, 4, (2.0, 1.0)), 0.1)
    ended = starts.follow({"one": case}, {"one": start}, "head", end=1e4, rtol=1e-3)["one"]
    assert (starts.shares(ended).amax(-1) > 0.8).all()


def test_every_case_is_in_the_rows_and_the_head_makes_the_difference(config):
    settings = config["starts"]
    cases = {
        name: starts.Case.from_config(settings["cases"][name], settings["data"])
        for name in ("base", "together")
    }
    streams = Streams(5, "noncontrastive", "starts-test", range(3))
    small = {**settings, "replicates": 3, "starts": 4}
    frame = pd.concat(starts.all_frames(cases, ["head", "frozen"], small, streams))
    assert len(frame) == 2 * 2 * 12
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


def test_a_run_of_the_flow_is_as_the_lemmas_of_the_appendix_say(config):
    """Lemmas B.13, C.8, D.8 and Theorem E.2 on the ends of the phases."""
    settings = {**config["phases"], "dimensions": [10_000, 100_000], "points": 200}
    count = settings["replicates"]
    run = phases.Phases(settings, Streams(0, "noncontrastive", "phases-test", range(count)))
    done = run.run()
    found = run.frame(done).pivot_table(
        index=["replicate", "dimension"], columns="quantity", values="value"
    )
    assert ((found["t1"] / found["t1_predicted"] - 1).abs() < 0.01).all()
    t1, t2, t3v, t3 = (done.at_hits[:, place] for place in range(4))
    assert ((done.hits[:, 3] - done.hits[:, 2]) < 0.01 * (done.hits[:, 3] - done.hits[:, 1])).all()
    head = done.states.e[..., 1, 0].abs().amax(1) / run.bound
    kept = [(at.b / run.start.b).abs() for at in (t1, t2, t3)]
    assert all(((size[:, 1, 0] > 0.95) & (size[:, 1, 0] < 1.2)).all() for size in kept)
    assert ((kept[0][:, 1, 1] - 1).abs() < 0.02).all()
    assert ((head > 0.9) & (head <= 1)).all()
    assert (t3.e[:, 1, 0].abs() > 0.3 * run.bound).all()
    assert (t2.e[:, 1, 0] * t2.b[:, 0, 0] * t2.b[:, 1, 0] > 0).all()
    assert (t1.residual[:, 1] > 0.9).all()
    exponents = {
        -1.0: t1.e[:, 1, 0].abs(), -0.5: t1.e[:, 0, 1].abs(), -0.75: t2.residual[:, 0],
        -0.8: t3.residual[:, 0], 1.0: run.race(t3v, run.law)["h_ratio"],
    }  # fmt: skip
    for wanted, values in exponents.items():
        small, large = values.view(2, count)
        rise = torch.log10(large / small).median().item()
        assert rise == pytest.approx(wanted, abs=0.5 if wanted > 0 else 0.1), wanted


def test_oracles_hold_and_misprints_show(config):
    settings = {**config["oracles"], "samples": 20_000}
    streams = Streams(1, "noncontrastive", "oracle-test", range(2))
    frame = instances(settings, streams)
    means = frame.groupby("quantity")["value"].mean()
    exact = [name for name in means.index if name.startswith(("gradient", "batch"))]
    assert len(exact) == 7
    assert (means[[*exact, "named_terms", "radial"]] < 1e-10).all()
    batches = means[[f"monte_carlo_{law}" for law in ("gaussian", "sphere", "both", "frequent")]]
    assert (batches.abs() < 0.02).all()  # of large batches, over the population's
    assert means["printed_view_noise"] < means["monte_carlo_gaussian"] - 0.01
    assert means["printed_signal"] == pytest.approx(1 / 3)
    assert means["printed_noise"] == pytest.approx(2)
    assert (means[["printed_radial", "printed_head", "printed_xi"]] > 0.05).all()


def test_section_5_3_is_judged_on_random_states(config):
    roles = {**config["oracles"]["roles"], "states": 40}
    spec = PatchData.from_config(roles["data"])
    streams = Streams(1, "noncontrastive", "oracle-test", range(2))
    frame = pd.concat(role_frames(spec, roles, streams))
    assert len(frame) == 4 * 2 * 2 * 40
    claims = by_name(oracles, config)
    assert claims["roles-both"].measure({"roles": frame}).mean() > 0.9
    assert claims["roles-incomplete"].measure({"roles": frame}).mean() < 0.2
    # without normalisation the head is no part of the push: no claim of its own
    wins = {
        (variant, entry): own["weak"].gt(own["strong"]).tolist()
        for (variant, entry), own in frame.groupby(["variant", "e21"])
    }
    head = frame["e21"].max()
    bare = wins["no normalisation, StopGrad", head]
    assert bare == wins["batch normalisation, StopGrad", frame["e21"].min()]


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
    frame = pd.DataFrame(rows, columns=COLUMNS)
    worst = by_name(phase_analysis, config)["phase-3-exponent"]
    assert worst.measure({"times": frame}) == pytest.approx([1.625] * 2)
    steeper = frame["value"].where(frame["case"] != "closer", frame["value"] * frame["dimension"])
    found = worst.measure({"times": frame.assign(value=steeper)})
    assert found == pytest.approx([2.625] * 2), "the case that is farthest off counts"


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
