"""Algorithms A, B and C, probes and measurements of the contrastive package."""

import copy
import math
from dataclasses import replace

import pandas as pd
import pytest
import torch

from featlearn.contrastive import closed_forms, measure
from featlearn.contrastive.analysis.ablations import Ablations
from featlearn.contrastive.data import SparseCoding, draw_dictionary, sample
from featlearn.contrastive.experiment import Downstream, Experiment
from featlearn.contrastive.experiments.stages import arms, printed_t1
from featlearn.contrastive.model import Batch, initial_weights
from featlearn.contrastive.panel import LEFT_OUT
from featlearn.contrastive.panel import measure as panel
from featlearn.contrastive.train import (
    NOT_YET,
    Learner,
    Thresholds,
    Training,
    printed_growth,
    train,
)
from featlearn.core.evidence.baselines import MEMBERS
from featlearn.core.run.config import load
from featlearn.core.seeds import Streams
from unit import ROOT, job_of

SPEC = SparseCoding(atoms=8, dimension=32)
SMALL = {"anchors": 16, "negatives": 16, "learning_rate": 0.5}


def learner(training, thresholds, replicates=(0, 1), norm=0.1, neurons=10):
    streams = Streams(0, "contrastive", "train-test", replicates)
    atoms = draw_dictionary(SPEC, streams("d")).to("cpu").atoms
    w = initial_weights(neurons, SPEC.dimension, norm, streams("w"))
    return Learner(SPEC, atoms, w, training, thresholds, streams("x"))


def trained(training, thresholds=None, **options):
    own = learner(training, thresholds or Thresholds("zero"), **options)
    return own, train(own, record_every=10)


@pytest.mark.parametrize("rule", ["scheduled", "zero", "trained"])
def test_a_replicate_trains_the_same_alone_and_in_a_batch(rule):
    thresholds = Thresholds(rule, growth=1.5, learning_rate=0.1)
    training = Training(**SMALL, steps=60)
    _, both = trained(training, thresholds)
    _, alone = trained(training, thresholds, replicates=(1,))
    assert torch.equal(alone.w[0], both.w[1])
    assert torch.equal(alone.b[0], both.b[1])
    assert alone.t1[0] == both.t1[1]


def test_exact_stage_one_follows_its_closed_form():
    training = Training(**SMALL, steps=30, decay=0.02)
    own, done = trained(training, Thresholds(growth=1e9))
    start = own.moments["start"][0]
    rates = closed_forms.stage_one_rates(SPEC, "complementary", 16, 0.02)
    alpha, before = (torch.bmm(w, own.atoms) for w in (done.w, start))
    assert torch.allclose(alpha, before * (1 + 0.5 * rates[0]) ** 30, rtol=1e-3, atol=1e-6)
    rest, rest_before = (
        w - torch.bmm(a, own.atoms.mT) for w, a in ((done.w, alpha), (start, before))
    )
    assert torch.allclose(rest, rest_before * (1 + 0.5 * rates[1]) ** 30, rtol=1e-3, atol=1e-6)
    assert (done.t1 == NOT_YET).all()
    assert torch.equal(done.moments["t1"][0], done.moments["end"][0])


def test_t1_by_its_printed_conventions():
    growth = printed_growth(c0=0.01, gamma=0.01)
    assert growth["main text"] == pytest.approx(1e4)
    assert growth["appendix A.2, C"] == pytest.approx(math.sqrt(2), rel=0.01)
    assert growth["appendix C.2"] == pytest.approx(1, rel=0.02)
    assert growth["proof of C.1"] == pytest.approx(2, rel=0.01)


def test_thresholds_are_raised_at_t1_and_then_grow_with_the_norm():
    training = Training(**SMALL, steps=80)
    rule = Thresholds(growth=1.2, scale=0.7, rate=0.5, cap=100.0)
    own = learner(training, rule, norm=0.01)
    previous = None
    for number in range(1, 81):
        own.step(number)
        for r in range(2):
            t1 = int(own.t1[r])
            if t1 == NOT_YET:
                assert (own.b[r] == 0).all()
            elif t1 == number:
                ratio = own.b[r] / own.norm[r]
                wanted = 0.7 * math.sqrt(2 * math.log(8) / 8)
                assert torch.allclose(ratio, torch.full_like(ratio, wanted))
                assert (own.norm[r] >= 1.2 * own.norm_start[r]).all()
            elif previous is not None:
                growth = own.b[r] / previous[0][r]
                least = torch.full_like(growth, 1 + 0.5 * 0.5 / 8)
                wanted = torch.maximum(own.norm[r] / previous[1][r], least)
                assert torch.allclose(growth, wanted, rtol=1e-4)
        previous = (own.b.clone(), own.norm.clone())
    assert (own.t1 > 0).all()


def test_a_neuron_that_has_decayed_to_zero_keeps_its_threshold():
    own = learner(Training(**SMALL, steps=80), Thresholds(growth=1.2, rate=0.0), norm=0.01)
    for number in range(1, 81):
        own.step(number)
    assert (own.t1 > 0).all()
    own.w[:, 0] = 0
    for number in (81, 82):
        own.step(number)
    assert torch.isfinite(own.b).all()
    assert (own.b[:, 0] > 0).all()


def test_thresholds_are_frozen_beyond_their_cap():
    rule = Thresholds(growth=1.2, rate=5.0, cap=0.05)
    own, done = trained(Training(**SMALL, steps=120), rule, norm=0.01)
    bound = 0.05 * math.log(8) / math.sqrt(8)
    assert (done.b > bound).any()
    assert (done.b <= bound * 1.5 + own.moments["t1"][1].max()).all()


def test_t2_is_the_first_step_with_a_norm_far_beyond_that_of_t1():
    training = Training(anchors=64, negatives=64, learning_rate=1.0, steps=400)
    _, done = trained(training, Thresholds(), norm=0.01, neurons=64)
    for r in range(2):
        assert 0 < done.t1[r] < done.t2[r]
        before, after = (done.moments[name][0][r].norm(dim=-1) for name in ("t1", "t2"))
        assert (after**2 >= 8 * before**2).any()


def test_trained_thresholds_move():
    free = Thresholds("trained", learning_rate=0.5)
    training = Training(**SMALL, steps=40, masking="none")
    _, done = trained(training, free, norm=0.5)
    assert (done.b < 0).any()


def test_probe_of_raw_samples_and_bayes_match_the_exact_values():
    sizes = {"train_samples": 4000, "test_samples": 8000}
    config = {"replicates": 2, "data": {"atoms": 16, "dimension": 32}, "probe": sizes}
    tasks = Downstream(Experiment("probe-test", config, 0))
    linear, bayes = tasks.raw(), tasks.bayes()
    spec = tasks.experiment.spec
    assert linear.nmse.mean().item() == pytest.approx(closed_forms.linear_error(spec), rel=0.05)
    assert bayes["nmse"].mean().item() == pytest.approx(closed_forms.bayes_error(spec), rel=0.05)
    assert (bayes["accuracy"] > linear.accuracy).all()
    assert tasks.atoms().nmse.mean() < 1.02 * linear.nmse.mean()


def test_the_probe_leaves_out_what_has_no_sign_and_tests_what_it_has_not_seen():
    stream = torch.Generator().manual_seed(0)
    x = torch.randn((2, 900, 6), generator=stream)
    y = torch.where(x[..., 0].abs() > 0.5, x[..., 0], 0.0)
    seen = measure.probe(measure.Task(x[:, :500], y[:, :500], x[:, 500:], y[:, 500:]))
    assert (seen.accuracy > 0.97).all()
    assert (seen.train_accuracy > 0.97).all()
    assert (seen.nmse < 0.1).all()
    # a linear rule with other labels: nothing carries over
    fresh = measure.probe(measure.Task(x[:, :500], y[:, :500], x[:, 500:], y[:, 500:].flip(1)))
    assert (fresh.nmse > 1.5).all()
    assert torch.equal(fresh.train_nmse, seen.train_nmse)


def test_a_neuron_that_barely_fired_once_spoils_no_probe():
    stream = torch.Generator().manual_seed(0)
    x = torch.randn((1, 2000, 5), generator=stream)
    y = x[..., 0] + 0.1 * x[..., 1]
    spike = torch.zeros(1, 2000, 1)
    spike[0, 3], spike[0, 1500] = 1e-6, 1.0
    features = torch.cat([x, spike], -1)
    plain, spiked = (
        measure.probe(measure.Task(f[:, :1000], y[:, :1000], f[:, 1000:], y[:, 1000:]))
        for f in (x, features)
    )
    assert torch.allclose(plain.nmse, spiked.nmse)


def perfect(neurons_per_atom=2, size=1.0):
    streams = Streams(0, "contrastive", "measure-test", (0,))
    drawn = draw_dictionary(SPEC, streams("d"), complement=True)
    w = size * drawn.atoms.mT.repeat(1, neurons_per_atom, 1)
    return w, drawn


def test_alignment_of_a_perfect_network():
    w, drawn = perfect()
    seen = measure.Alignment.of(w, drawn.atoms)
    assert seen.singleton.all()
    assert seen.covered().all()
    assert torch.allclose(seen.strength(1.0), torch.full((1, 8), 2 / math.log(8)).double())
    b = torch.full((1, 16), 0.3, dtype=torch.float64)
    found = measure.moment_quantities(w, b, w, SPEC, drawn.atoms, tau=1.0)
    assert found["lucky_came_true"].item() == found["singletons_foreseen"].item() == 1


def test_a_neuron_that_never_fires_is_no_singleton():
    w, drawn = perfect(neurons_per_atom=1)
    b = torch.zeros(1, 8, dtype=torch.float64)
    b[0, 2] = 5.0
    samples = sample(SPEC, drawn.atoms, 400, Streams(0, "contrastive", "dead-test", (0,))("x"))
    alive = measure.Watch(Batch(samples.x, samples.x, samples.x), samples, 1.0).alive(w, b)
    assert alive[0].tolist() == [neuron != 2 for neuron in range(8)]
    seen = measure.Alignment.of(w, drawn.atoms, alive)
    assert seen.singleton[0].tolist() == alive[0].tolist()
    assert seen.covered()[0].tolist() == alive[0].tolist()
    found = measure.weight_quantities(w, b, drawn.atoms, 1.0, alive)
    assert found["covered"].item() == found["singletons"].item() == 7 / 8


def test_lottery_sets_and_pairs_by_their_definition():
    alpha = torch.zeros(1, 2, 8)
    alpha[0, 0, 3] = 1.0
    alpha[0, 1, :2] = 1.0
    sets = measure.Lottery.of(alpha)
    assert sets.member[0].nonzero().tolist() == [[0, 3]]
    assert sets.lucky[0, 0, 3]
    # two equal coordinates of two: each holds half of the norm, less than 2.02 log 8 / 8
    assert not sets.lucky[0, 1].any()
    holds = torch.ones(1, 4, 8, dtype=torch.bool)
    chosen = torch.ones_like(holds)
    holds[0, 0, 3] = holds[0, 1, 5] = False
    chosen[0, 1, 5] = False
    assert measure.every_pair(holds, chosen).tolist() == [0.75]


def test_firing_precision_of_a_noiseless_network_is_one():
    config = {"replicates": 1, "data": {"atoms": 8, "dimension": 32, "noise": 1e-6}}
    experiment = Experiment("fire-test", config, 0)
    w = experiment.atoms.mT
    samples = experiment.samples("x", 500)
    seen = measure.firing_precision(
        measure.Alignment.of(w, experiment.atoms), w, torch.full((1, 8), 0.5), samples
    )
    assert seen["firing_precision"].item() == 1.0


@pytest.fixture(scope="module")
def smoke():
    return load({"scale": "smoke"}, ROOT)["contrastive"]


@pytest.fixture
def section(smoke):
    return copy.deepcopy(smoke)


def test_mask_and_thresholds_are_compared_from_one_start_and_to_the_end_or_a_plateau(section):
    found = arms(section["stages"])
    assert len({found[arm].norm for arm in found}) == 1
    reference, raised = found["masked"].training, found["masked"].thresholds
    assert reference.exact_stage_one
    short = {"steps": reference.steps // 4}
    for suffix, rule, changes in (
        ("", raised, {}),
        ("-zero", Thresholds("zero"), short),
        ("-kept", replace(raised, rate=0.0), {"decay": 0.0}),
    ):
        for arm, mask in (("masked", "complementary"), ("unmasked", "none")):
            own = found[arm + suffix]
            assert own.training == replace(reference, masking=mask, **changes)
            assert own.thresholds == rule
    assert found["sampled"].training == replace(reference, exact_stage_one=False, **short)
    least = section["stages"]["data"]["atoms"] ** -1.499
    assert found["theory-decay"].training == replace(reference, decay=least)


def test_at_t1_of_the_main_text_every_lucky_pair_is_above_the_line(section):
    config = {**section["stages"], "data": {"atoms": 16, "dimension": 64}}
    known = printed_t1(Experiment("t1-test", config, 0))
    assert (known["growth"] >= 1e4 * (1 - 1e-5)).all()
    assert (known["lucky_above"] == 1).all()
    assert (known["signal_share"] > 0.999).all()
    # the printed step of the closed form: sqrt(d / d_1) (1 + eta g)^t = 10^4, of the slowest neuron
    spec, given = SparseCoding(16, 64), arms(config)["masked"].training
    rate, _ = closed_forms.stage_one_rates(spec, "complementary", given.negatives, given.decay)
    wanted = math.log(1e4 * 2) / math.log1p(given.learning_rate * rate)
    assert (known["step"] >= wanted * 0.9).all()
    assert (known["step"] <= wanted * 1.2).all()


def test_the_panel_learns_from_the_labels_of_the_probe(section):
    config = {**section["stages"], "probe": {"train_samples": 500, "test_samples": 500}}
    found = panel(job_of(config))["panel"]
    nmse = found.pivot_table(index="method", columns="replicate", values="value")
    assert {*nmse.index} | {*LEFT_OUT} == {*MEMBERS}
    # the mean of the labels is worth nothing; ridge regression on the samples is that of the probes
    assert nmse.loc["majority"].to_numpy() == pytest.approx(1, abs=0.05)
    raw = Downstream(Experiment("stages", config, 0)).raw().nmse
    assert nmse.loc["linear"].to_numpy() == pytest.approx(raw.numpy(), rel=0.05)
    chosen = found[found["best"]].set_index("replicate")["validation"]
    pd.testing.assert_series_equal(chosen, found.groupby("replicate")["validation"].min())


def test_fact_a1_asks_for_the_anchors_whose_gradients_err_by_the_norm_over_the_dimension(section):
    """Without a mask, by sampling, against the number of the premise."""
    spec = SparseCoding(8, 64)
    streams = Streams(0, "contrastive", "anchors-test", (0,))
    atoms = draw_dictionary(spec, streams("d")).to("cpu").atoms
    w = initial_weights(20, spec.dimension, 1e-3, streams("w"))
    x = sample(spec, atoms, 200_000, streams("x")).x[0].unflatten(0, (200, 1000))
    pulls = torch.einsum("bkm,bkd->bmd", x @ w[0].T, x) / 1000
    error = (pulls - pulls.mean(0)).square().sum(-1).mean().sqrt() / w.norm(dim=-1).mean()
    section["ablations"]["data"] = {"atoms": 8, "dimension": 64, "noise": 1.0}
    used, needed = Ablations(section).anchors()
    assert used == section["ablations"]["training"]["anchors"]
    assert math.sqrt(1000 / needed) * error * 64 == pytest.approx(1, rel=0.6)
    assert Ablations(section).wide_input() == (64, 64)
    section["ablations"]["arms"]["wide"]["data"] = {"dimension": 128}
    assert Ablations(section).wide_anchors()[1] == pytest.approx(8 * needed)
