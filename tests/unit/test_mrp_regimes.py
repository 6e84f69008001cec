"""The regimes of the lottery: packing, training until fitted, sweeps, causes; the opponents."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import torch

from featlearn.core.errors import DivergedError
from featlearn.core.evidence.frames import tidy
from featlearn.core.run.config import load
from featlearn.core.seeds import Streams
from featlearn.mrp.analysis.regimes import sigma_sweep, with_impure_share
from featlearn.mrp.data import MultiView, Problem, Samples, packed
from featlearn.mrp.experiments import regimes
from featlearn.mrp.gradients import classification_descent
from featlearn.mrp.kernels import Capture
from featlearn.mrp.labels import Models
from featlearn.mrp.measure import Prediction, head, majority, network, unlearned
from featlearn.mrp.model import Activation, encode, fixed_block_head, initial_kernels
from featlearn.mrp.train import fit, pretrain, supervise, train_classifier
from unit import ROOT, job_of
from unit.test_sampler import draw as sampled

ACTIVATION = Activation(4, 0.3)
SPEC = MultiView(classes=4, dimension=12, patches=16, sparsity=1.5, q=4, patches_per_feature=2)
SMOKE = load({"scale": "smoke"}, ROOT)["mrp"]
SECTION = {**SMOKE["sweeps"], "supervised": SMOKE["sweeps"]["supervised"] | {"max_steps": 800}}


def quiet(*_):
    pass


def draw(count=50, replicates=2, spec=SPEC, **options) -> tuple[torch.Tensor, Samples]:
    return sampled(spec, count, 0, range(replicates), **options)


@pytest.mark.parametrize("parts", [1, 3, 7])
def test_packing_keeps_every_feature_patch_and_no_other(parts):
    _, samples = draw()
    packs = packed(samples, parts)
    assert len(packs) == parts
    assert sum(part.y.shape[1] for part in packs) == 50
    for r in range(2):
        wanted = samples.x[r][samples.owner[r] >= 0]
        found = torch.cat([part.x[r][part.owner[r] >= 0] for part in packs])
        order = [torch.argsort(rows[:, 0]) for rows in (wanted, found)]
        assert torch.equal(wanted[order[0]], found[order[1]])
        for part in packs:
            assert (part.x[r][part.owner[r] < 0] == 0).all()
            assert (part.strength[r][part.owner[r] < 0] == 0).all()


def test_without_background_noise_packing_changes_no_output_and_no_gradient():
    """gamma = 0 leaves patches without a feature empty: dropping them is then exact."""
    spec = MultiView(
        classes=4, dimension=12, patches=16, sparsity=1.5, q=4, patches_per_feature=2,
        feature_noise=0.0,
    )  # fmt: skip
    _, samples = draw(spec=spec)
    w = initial_kernels(8, 12, 0.3, Streams(0, "mrp", "regimes-test", range(2))("init")).double()
    head = fixed_block_head(4, 8, 2).double()
    (one,) = packed(samples)
    by_y = torch.argsort((samples.owner >= 0).sum(-1), dim=1, stable=True)
    for r in range(2):
        whole = encode(samples.x, w, 4, 0.3)[r][by_y[r]]
        torch.testing.assert_close(encode(one.x, w, 4, 0.3)[r], whole, rtol=1e-12, atol=1e-14)
    wanted = classification_descent(samples.x, samples.y, w, head, ACTIVATION)
    found = fit(
        packed(samples, 3), w, head, ACTIVATION,
        learning_rate=1.0, tolerance=0.0, max_steps=1, report=quiet,
    )  # fmt: skip
    torch.testing.assert_close(found.w, w + wanted.w, rtol=1e-10, atol=1e-12)


def problem(count=40, **options):
    features, samples = draw(count, replicates=3, **options)
    w = initial_kernels(16, 12, 0.05, Streams(0, "mrp", "regimes-test", range(3))("init")).double()
    return features, samples, w, fixed_block_head(4, 16, 3).double()


OPTIONS = {"learning_rate": 2.0, "tolerance": 0.02, "max_steps": 600, "report": quiet}


def test_a_fitted_replicate_ends_at_its_own_step_and_takes_the_plain_path_there():
    features, samples, w, head = problem()
    found = fit([samples], w, head, ACTIVATION, **OPTIONS)
    assert found.converged.all()
    assert len(set(found.steps.tolist())) > 1  # some do end before others
    for r, steps in enumerate(found.steps.tolist()):
        plain = train_classifier(
            samples.x[r : r + 1], samples.y[r : r + 1], w[r : r + 1], head[r : r + 1], ACTIVATION,
            encoder_rate=2.0, head_rate=0.0, steps=steps, features=features[r : r + 1],
        )  # fmt: skip
        torch.testing.assert_close(found.w[r], plain.w[0], rtol=1e-8, atol=1e-10)
        assert found.loss[r].item() == pytest.approx(plain.trace["loss"][-1].item())
        assert plain.trace.steps[-2:] == [steps - 20, steps]  # where the loss is looked at
        assert plain.trace["loss"][-2].item() >= 0.02


def test_a_wrong_label_keeps_a_replicate_from_counting_as_fitted():
    _, samples, w, head = problem()
    samples.y[1, 0] = (samples.y[1, 0] + 1) % 4  # cannot be fitted within the steps
    found = fit([samples], w, head, ACTIVATION, **{**OPTIONS, "tolerance": 0.5, "max_steps": 100})
    assert found.converged.tolist() == [True, False, True]
    assert found.loss[1] < 0.5
    assert found.accuracy[1] < 1
    assert found.steps[1] == 100


def test_tolerance_zero_trains_to_the_end_and_the_watch_sees_the_way():
    _, samples, w, head = problem(10)
    seen = {}
    found = fit(
        [samples], w, head, ACTIVATION,
        **{**OPTIONS, "tolerance": 0.0, "max_steps": 25},
        watch=lambda step, kernels: seen.update({step: kernels.clone()}), watched=[0, 7, 25],
    )  # fmt: skip
    assert found.steps.tolist() == [25] * 3
    assert list(seen) == [0, 7, 25]
    assert torch.equal(seen[0], w)
    assert torch.equal(seen[25], found.w)
    short = fit([samples], w, head, ACTIVATION, **{**OPTIONS, "tolerance": 0.0, "max_steps": 7})
    assert torch.equal(seen[7], short.w)


def test_pretraining_lasts_at_least_min_steps():
    features, samples, w, _ = problem(30)
    settings = {"theta": 0.5, "learning_rate": 0.5, "max_steps": 300}
    free = pretrain(samples.x, features, 6 * w, ACTIVATION, **settings)
    held = pretrain(samples.x, features, 6 * w, ACTIVATION, **settings, min_steps=150)
    assert (free.stopped < 150).all()
    assert held.stopped.tolist() == [150] * 3
    assert torch.equal(free.hit, held.hit)


def test_points_of_a_batch_are_paired_and_equal_to_their_own_experiment():
    batch = Problem("test", SECTION, 0, shares=[0.0, 0.5])
    samples, w = batch.train, batch.kernels()
    assert samples.x.shape == (4, 60, 8, 16)
    assert torch.equal(w[:2], w[2:])
    assert torch.equal(samples.y[:2], samples.y[2:])
    assert samples.is_single.sum(1)[:2].tolist() == [0, 0]
    assert (samples.is_single.sum(1)[2:] > 10).all()
    data = {**SECTION["data"], "single_view_share": 0.5}
    alone = Problem("test", {**SECTION, "data": data}, 0)
    assert torch.equal(samples.x[2:], alone.train.x)


def test_the_initial_ratio_counts_the_kernels_that_can_serve_a_feature():
    problem = Problem("test", SECTION, 0)
    w = torch.zeros(2, 20, 16)
    w[:, 0] = 0.3 * problem.features[:, 1, 0]  # a kernel of class 0 on a feature of class 1
    assert regimes.initial_ratio(problem, w, by_class=False).tolist() == pytest.approx([1 / 8] * 2)
    assert regimes.initial_ratio(problem, w, by_class=True).tolist() == pytest.approx(
        [0, 0], abs=1e-6
    )


def test_both_kinds_of_network_are_measured():
    problem = Problem("test", SECTION, 0)
    frame = pd.concat(
        [regimes.supervised_rows(problem, quiet), regimes.capture_rows(problem, quiet)]
    )
    values = frame.pivot_table(index=["model", "replicate"], columns="quantity", values="value")
    ours = values.loc["supervised"]
    assert (ours["converged"] == 1).all()
    assert (ours["train_accuracy"] == 1).all()
    shares = ours[["share_kept", "share_lost_alone", "share_lost_distractor"]]
    assert shares.sum(axis=1).tolist() == pytest.approx([1, 1])
    hit = pretrain(
        problem.train.x, problem.features, problem.kernels(), problem.activation,
        theta=0.5, learning_rate=1.0, max_steps=200,
    )  # fmt: skip
    assert values.loc["at_capture"]["steps"].tolist() == hit.stopped.tolist()


def test_single_view_samples_are_sorted_by_what_became_of_their_view():
    # two classes; class 0 lost its second feature, class 1 lost its first
    strength = torch.tensor([[[0.5, 0.0], [0.0, 0.5]]])
    held = Capture(torch.zeros(1, 4, 2, 2), 0.3)
    held.correlation[0, 0] = strength[0]
    #             kept; lost with distractor; lost, the other class shows what it lost; lost alone
    y = torch.tensor([[0, 0, 0, 1]])
    strong = torch.tensor([[0, 1, 1, 0]])
    active = torch.zeros(1, 4, 2, 2, dtype=torch.bool)
    active[0, :3, 0] = True
    active[0, 3, 1] = True
    active[0, 1, 1, 1] = True
    active[0, 2, 1, 0] = True
    empty = torch.zeros(1, 4, 1)
    samples = Samples(empty, y, strong, active, empty, empty, empty)
    scores = torch.tensor([[[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 0.0]]])
    found = regimes.causes(samples, Prediction(scores, y, strong), held)
    assert {name: value.item() for name, value in found.items()} == {
        "share_kept": 0.25, "accuracy_kept": 1.0,
        "share_lost": 0.75, "accuracy_lost": pytest.approx(1 / 3),
        "share_lost_distractor": 0.25, "accuracy_lost_distractor": 0.0,
        "share_lost_alone": 0.5, "accuracy_lost_alone": 0.5,
    }  # fmt: skip


def test_sizes_follow_the_number_of_classes_and_sigma_the_theory():
    scaling = SMOKE["classes"]["scaling"]
    network = SMOKE["classes"]["network"] | {"q": 5, "sigma_0": 0.02}
    section = regimes.section_of(scaling, network, 32, 3)
    assert section["network"]["sigma_0"] == pytest.approx(0.01)  # (4 / 32) ** (1 / 3)
    assert section["data"]["dimension"] == 64
    assert section["data"]["train_samples"] == 256
    assert regimes.section_of(scaling, network, 4, 3)["network"] == network


def test_a_point_that_diverges_is_named_and_the_others_stay():
    told = []
    job = job_of({**SECTION, "points": {"feature_noise": [0.0, 1e4]}}, tell=told.append)
    job.wildcards = SimpleNamespace(model="pretrained")
    (frame,) = regimes.sweeps(job).values()
    assert set(frame["at"]) == {0.0}
    assert told[0].startswith("left out: feature_noise = 10000.0, step ")
    job.config["points"]["feature_noise"] = [1e4]
    with pytest.raises(DivergedError, match=r"feature_noise = 10000\.0"):
        regimes.sweeps(job)


def test_the_sweep_over_sigma_is_the_grid_without_single_view_data():
    lines = [("m", 0, "winners", 4.0, 0.1, 0.0), ("m", 0, "impure_winners", 1.0, 0.1, 0.0),
            ("m", 0, "winners", 9.0, 0.1, 0.3)]  # fmt: skip
    columns = ["model", "replicate", "quantity", "value", "sigma_0", "single_view_share"]
    alone = sigma_sweep(pd.DataFrame(lines, columns=columns))
    assert alone["value"].tolist() == [4.0, 1.0]
    shares = with_impure_share(alone)
    assert shares[shares["quantity"] == "impure_share"]["value"].tolist() == [0.25]


NOISELESS = SMOKE["opponents"] | {
    "data": SMOKE["opponents"]["data"] | {"feature_noise": 0.0, "noise": 0.0}
}


@pytest.fixture(scope="module")
def noiseless() -> Problem:
    return Problem("opponents", NOISELESS, 0)


def test_heads_are_right_on_pure_features_and_on_networks_as_trained(noiseless):
    found = head(noiseless, noiseless.features.flatten(1, 2))  # one kernel a feature
    for quantity in ("train_accuracy", "accuracy_multi_view", "accuracy_single_view"):
        assert found[quantity].tolist() == [1, 1]
    assert (found["gradient"] < 1e-3).all()
    options = {"learning_rate": 0.5, "steps": 3, "record_every": 1}
    w = 0.1 * noiseless.features.flatten(1, 2)
    fixed, free = (supervise(noiseless, w, **options, head_too=too) for too in (False, True))
    blocks = torch.eye(4).repeat_interleave(2, 1).expand(2, -1, -1)
    assert torch.equal(fixed.u, blocks)
    assert not torch.equal(free.u, blocks)
    assert network(noiseless, fixed.w, fixed.u)["train_accuracy"].tolist() == [1, 1]


def test_each_step_under_masks_sees_the_patches_of_a_fresh_one(noiseless):
    kept = [noiseless.masks(0.3, step) for step in range(2)]
    assert not torch.equal(*kept)
    assert torch.equal(Problem("opponents", NOISELESS, 0).masks(0.3, 1), kept[1])
    assert kept[0].double().mean() == pytest.approx(0.3, abs=0.06)
    u, w = noiseless.blocks(noiseless.kernels()), noiseless.kernels(sigma_0=0.3)
    found = supervise(noiseless, w, learning_rate=0.5, steps=2, theta=0.3).w
    for mask in kept:
        left = noiseless.train.x * mask[..., None]
        w = w + 0.5 * classification_descent(left, noiseless.train.y, w, u, noiseless.activation).w
    torch.testing.assert_close(found, w)
    every = supervise(noiseless, w, learning_rate=0.5, steps=2, theta=1.0).w
    torch.testing.assert_close(every, supervise(noiseless, w, learning_rate=0.5, steps=2).w)


def test_features_that_nobody_learned_do_not_know_the_order_of_the_patches(noiseless):
    samples = noiseless.train
    turned = samples._replace(x=samples.x.flip(2))
    assert not torch.equal(samples.x, turned.x)
    for features in unlearned(noiseless).values():
        torch.testing.assert_close(features(samples), features(turned))
    assert unlearned(noiseless)["random_many"](samples).shape == (2, 80, 1000)


def test_the_most_frequent_class_is_counted(noiseless):
    found = majority(noiseless)
    for r in range(2):
        counts = noiseless.train.y[r].bincount(minlength=4)
        right = (noiseless.tests["single_view"].y[r] == counts.argmax()).double().mean()
        assert found["accuracy_single_view"][r] == right
        assert found["train_accuracy"][r] == pytest.approx(float(counts.max() / 80))


def test_the_best_opponent_is_the_best_in_the_mean():
    values = np.array([[0.9, 0.8], [1.0, 0.1], [0.6, 0.7]])[..., None]
    axes = {"model": ["own", "b", "c"], "replicate": range(2), "quantity": ["a"]}
    models = Models({})
    models.frames = {"evaluation": tidy(axes, value=values)}
    np.testing.assert_allclose(models.lead_over_best("own", ("b", "c"), "a"), [0.3, 0.1])
