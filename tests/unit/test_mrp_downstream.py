"""After pre-training: classifiers, fine-tuning, transfer pools, patch evidence, selection."""

import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from featlearn.core.errors import DivergedError
from featlearn.core.evidence.frames import tidy
from featlearn.core.evidence.stats import per_replicate
from featlearn.core.seeds import Streams
from featlearn.mrp.analysis.transfer import chosen_elsewhere, reported
from featlearn.mrp.data import MultiView, Problem, Samples, orthonormal_features, sample
from featlearn.mrp.experiments import localisation
from featlearn.mrp.experiments.clean import induction_quantities
from featlearn.mrp.experiments.finetuning import first_head, wrong_mass
from featlearn.mrp.experiments.transfer import Case, Outcome, extend_features, measured
from featlearn.mrp.gradients import classification_descent
from featlearn.mrp.model import Activation, class_scores, encode, initial_kernels
from featlearn.mrp.train import pretrain, train_classifier
from unit.test_mrp_gradients import outputs

ACTIVATION = Activation(4, 0.3)
SPEC = MultiView(classes=4, dimension=20, patches=8, sparsity=1, q=4)
STREAMS = Streams(0, "mrp", "downstream-test", range(2))
STRENGTH = 0.8
ONE_PATCH = {"features_per_class": 2, "patches_per_feature": 1}


def problem(count=120, dtype=torch.float64, single_view=None, spec=SPEC):
    features = orthonormal_features(spec, STREAMS("features"))
    drawn = sample(spec, features, count, STREAMS("data"), dtype=dtype, single_view=single_view)
    return features.to(dtype), drawn


def pure_kernels(features, idle=2):
    """One kernel a feature, of the same strength, and some that hold nothing."""
    winners = STRENGTH * features.flatten(1, 2)
    rest = initial_kernels(idle, features.shape[-1], 0.01, STREAMS("idle")).to(features)
    return torch.cat([winners, rest], dim=1)


def test_wrong_mass_is_one_minus_the_probability_of_the_class():
    scores = torch.tensor([[[1.0, 2.0, 0.5], [0.0, 0.0, 0.0]]], dtype=torch.float64)
    y = torch.tensor([[1, 2]])
    share = scores.softmax(-1)
    wanted = torch.stack([1 - share[0, 0, 1], 1 - share[0, 1, 2]])
    torch.testing.assert_close(wrong_mass(scores, y)[0], wanted)
    small = wrong_mass(60 * torch.eye(2)[None].double(), torch.tensor([[0, 1]]))
    assert small[0].tolist() == pytest.approx([math.exp(-60)] * 2, rel=1e-9)  # not 1 - 1


def test_training_writes_down_the_mean_wrong_mass_of_its_samples():
    features, drawn = problem()
    w = pure_kernels(features)
    u = torch.randn(2, 4, w.shape[1], dtype=torch.float64, generator=torch.manual_seed(0))
    down = classification_descent(drawn.x, drawn.y, w, u, ACTIVATION)
    scores = class_scores(encode(drawn.x, w, 4, 0.3), u)
    torch.testing.assert_close(down.wrong_mass, wrong_mass(scores, drawn.y).mean(-1))
    trace = train_classifier(
        drawn.x, drawn.y, w, u, ACTIVATION, encoder_rate=0.0, head_rate=1.0, steps=1,
        features=features,
    ).trace  # fmt: skip
    torch.testing.assert_close(trace["wrong_mass"][0], down.wrong_mass)
    assert (trace["wrong_mass"][1] < down.wrong_mass).all()


def test_the_first_head_is_the_gradient_step_from_zero():
    features, drawn = problem()
    w = pure_kernels(features).requires_grad_()
    u = torch.zeros(2, 4, w.shape[1], dtype=torch.float64, requires_grad=True)
    h = encode(drawn.x, w, 4, 0.3)
    log_share = torch.log_softmax(class_scores(h, u), -1)
    loss = -log_share.gather(-1, drawn.y.unsqueeze(-1)).mean(1).sum()
    down_w, down_u = torch.autograd.grad(loss, (w, u))
    found = first_head(h.detach(), drawn.y, 4, 3.0)
    torch.testing.assert_close(found, -3.0 * down_u, rtol=1e-12, atol=1e-14)
    assert torch.count_nonzero(down_w) == 0  # from a zero head the encoder does not move


def test_kernels_at_capture_are_those_of_the_step_that_captured_the_last_feature():
    features, drawn = problem(count=80)
    w = initial_kernels(24, 20, 0.05, STREAMS("init")).double()
    options = {"theta": 0.5, "learning_rate": 0.5}
    long = pretrain(drawn.x, features, w, ACTIVATION, max_steps=1500, hit_factor=1.5, **options)
    for replicate in range(2):
        last = int(long.hit[replicate].max())
        part = slice(replicate, replicate + 1)
        one = drawn.x[part], features[part], w[part]
        short = pretrain(*one, ACTIVATION, max_steps=last, **options)
        torch.testing.assert_close(long.at_capture[part], short.w)
    assert not torch.equal(long.at_capture, long.w)


def test_new_features_are_orthonormal_to_all_and_the_old_ones_stay():
    features, _ = problem(count=1)
    pool = extend_features(features, 3, STREAMS("new"))
    assert torch.equal(pool[:, :4], features)
    flat = pool.flatten(1, 2)
    gram = flat @ flat.transpose(1, 2)
    torch.testing.assert_close(gram, torch.eye(14).double().expand(2, -1, -1))
    other = extend_features(features, 3, STREAMS("other"))
    assert not torch.allclose(pool[:, 4:], other[:, 4:])


def test_a_case_takes_its_classes_and_keeps_density_and_spare_patches():
    pool = torch.arange(6.0).view(1, 6, 1, 1).expand(1, 6, 2, 1)
    chosen = Case(old_classes=2, new_classes=2, single_view_share=0.0).features(pool, 4)
    assert chosen[0, :, 0, 0].tolist() == [0, 1, 4, 5]
    data = {"classes": 10, "patches": 23, "sparsity": 3, "noise": 0.1, **ONE_PATCH}
    found = Case(5, 1, 0.25).section({"data": data}, {"train_samples": 7})["data"]
    assert (found["classes"], found["patches"], found["single_view_share"]) == (6, 15, 0.25)
    assert found["sparsity"] / found["classes"] == pytest.approx(0.3)
    assert (found["noise"], found["train_samples"]) == (0.1, 7)


def test_transfer_rows_tell_old_from_new_classes():
    features, _ = problem(count=1, dtype=torch.float32)
    case = Case(3, 1, 0.0)
    pool = extend_features(features, 1, STREAMS("new"))
    data = {"classes": 4, "dimension": 20, "patches": 8, "sparsity": 1, **ONE_PATCH}
    network = {"kernels_per_class": 2, "q": 4, "varrho": 0.3, "sigma_0": 0.1}
    clean = {"replicates": 2, "data": data, "network": network}
    section = case.section(clean, {"train_samples": 8, "test_samples": 200})
    task = Problem("downstream-test", section, 0, features=case.features(pool, 4))
    # kernels hold the old features only, and the new class gets a constant share of every kernel
    w = (STRENGTH * task.features).flatten(1, 2)
    w[:, 6:] = 0
    u = torch.zeros(2, 4, 8)
    for i in range(3):
        u[:, i, 2 * i : 2 * i + 2] = 1
    u[:, 3] = 10  # everything is called new
    frame = measured(case, task, Outcome("probe", 0.0, w, u))

    def read(classes, quantity):
        return per_replicate(frame, classes=classes, quantity=quantity).tolist()

    assert read("new", "accuracy_multi_view") == [1, 1]
    assert read("old", "accuracy_single_view") == [0, 0]


def test_a_setting_is_chosen_on_the_other_replicates_only():
    score = np.array([[1.0, 0.0, 0.0], [0.4, 0.4, 0.4]])
    # without replicate 0 the first setting has nothing; without the others it has 1 against 0.8
    assert chosen_elsewhere(score).tolist() == [1, 0, 0]
    equal = np.array([[0.1, 0.2, 0.3], [0.1, 0.2, 0.3 + 1e-13]])
    assert chosen_elsewhere(equal).tolist() == [0, 0, 0]
    assert chosen_elsewhere(np.array([[0.2], [0.9]])).tolist() == [1]


def test_only_the_chosen_rate_of_a_case_is_reported():
    axes = {"case": ["a"], "recipe": ["finetuned"], "encoder_rate": [0.1, 2.0], "classes": ["all"],
            "replicate": range(3),
            "quantity": ["accuracy_multi_view", "accuracy_single_view"]}  # fmt: skip
    scores = np.array([[1.0, 0.0, 0.0], [0.4, 0.4, 0.4]])
    frame = tidy(axes, value=scores[:, None, :, None])
    frame.loc[len(frame)] = ["a", "supervised", 4.0, "all", 0, "accuracy_multi_view", 0.5]
    found = reported(frame)
    tuned = found[found["recipe"] == "finetuned"]
    assert tuned.groupby("replicate")["encoder_rate"].unique().tolist() == [[2.0], [0.1], [0.1]]
    assert per_replicate(
        found, recipe="finetuned", classes="all", quantity="accuracy_multi_view"
    ).tolist() == [0.4, 0.0, 0.0]
    assert (found["recipe"] == "supervised").sum() == 1
    with pytest.raises(KeyError, match="captured"):
        per_replicate(found, recipe="finetuned", classes="new", quantity="captured")


def test_evidence_sums_to_the_score_of_the_class():
    features, drawn = problem()
    w = pure_kernels(features)
    u = torch.randn(2, 4, w.shape[1], dtype=torch.float64, generator=torch.manual_seed(1))
    evidence = localisation.patch_evidence(drawn, w, u, ACTIVATION)
    scores = class_scores(encode(drawn.x, w, 4, 0.3), u)
    own = scores.gather(-1, drawn.y.unsqueeze(-1)).squeeze(-1)
    assert evidence.shape == (2, 120, 8)
    torch.testing.assert_close(evidence.sum(-1), own)


def test_a_network_with_all_features_finds_all_own_patches_and_one_without_does_not():
    features, drawn = problem(single_view=False)
    both = torch.zeros(2, 4, 8, dtype=torch.float64)
    for i in range(4):
        both[:, i, 2 * i : 2 * i + 2] = 1
    first = both.clone()
    first[:, :, 1::2] = 0
    w = pure_kernels(features, idle=0)
    shown = localisation.own_patches(drawn, 2)
    assert (shown.sum(2) == 1).all()  # C_p = 1: one patch each, in a multi-view sample
    full = localisation.patch_evidence(drawn, w, both, ACTIVATION)
    assert (localisation.precision(full, shown) == 1).all()
    share = localisation.share_of_evidence(full, shown)
    assert (share > 0.1).all()
    assert share.sum(-1).mean().item() == pytest.approx(1, abs=1e-3)
    half = localisation.share_of_evidence(
        localisation.patch_evidence(drawn, w, first, ACTIVATION), shown
    )
    assert (half[..., 0] > 0.99).all()
    assert (half[..., 1] < 0.01).all()
    # negative evidence has no share, and where there is none nothing has
    evidence = torch.tensor([[[3.0, 1.0, -9.0], [-1.0, 0.0, -2.0]]])
    shown = torch.zeros(1, 2, 3, 2, dtype=torch.bool)
    shown[0, :, 0, 0] = shown[0, :, 2, 1] = True
    assert localisation.share_of_evidence(evidence, shown)[0].tolist() == [[0.75, 0], [0, 0]]
    assert localisation.precision(evidence, shown)[0].tolist() == [0.5, 0.5]


def test_induction_quantities_of_a_hand_made_sample():
    """Two features, two kernels; patches show feature 0, feature 1 and nothing."""
    x = torch.tensor([[[[1.0, 0.0, 0.1], [0.0, 2.0, 0.0], [0.0, 0.0, 0.5]]]], dtype=torch.float64)
    owner = torch.tensor([[[0, 1, -1]]])
    strength = torch.tensor([[[1.0, 2.0, 0.0]]], dtype=torch.float64)
    empty = torch.zeros(1, 1, dtype=torch.int64)
    drawn = Samples(x, empty, empty, torch.ones(1, 1, 1, 2).bool(), strength, strength, owner)
    features = torch.eye(3, dtype=torch.float64)[:2].view(1, 1, 2, 3)
    # kernel 0 is a member of feature 0's set, kernel 1 of none
    w = torch.tensor([[[3.0, 0.2, 1.0], [-0.4, 0.3, 0.7]]], dtype=torch.float64)
    sets = torch.tensor([[[[True, False]], [[False, False]]]])
    found = {name: v.item() for name, v in induction_quantities(drawn, w, features, sets).items()}
    # of kernel 0 on the patch of feature 1 and on the background; of kernel 1, and with feature 1
    assert found == pytest.approx({"b": 0.4, "c": 0.5, "d": 0.6, "e": 0.35, "h": 0.3})
    flipped = induction_quantities(drawn, -w, features, sets)
    assert flipped["h"].item() == pytest.approx(0.4)


CUBIC = Activation(3, 0.3)


def random_problem(replicates=2, samples=7, patches=4, dimension=5, kernels=6, classes=3, seed=0):
    stream = torch.Generator().manual_seed(seed)

    def normal(*shape):
        return torch.randn(shape, generator=stream, dtype=torch.float64)

    x = normal(replicates, samples, patches, dimension)
    y = torch.randint(classes, (replicates, samples), generator=stream)
    return x, y, 0.3 * normal(replicates, kernels, dimension), normal(replicates, classes, kernels)


def cross_entropy(x, y, w, u):
    scores = torch.einsum("rnk,rik->rni", outputs(x, w, CUBIC), u)
    return torch.stack([F.cross_entropy(scores[r], y[r]) for r in range(len(y))]), scores


def trained(x, y, w, u, **options):
    axes = torch.eye(5, dtype=torch.float64)[:3].view(1, 3, 1, 5).expand(len(x), -1, -1, -1)
    return train_classifier(x, y, w, u, CUBIC, features=axes, **options)


def test_huge_scores_are_finite_and_what_leaves_the_finite_numbers_says_so():
    x, one = 1e4 * torch.eye(2).view(1, 2, 1, 2), torch.eye(2)[None]
    down = classification_descent(x, torch.tensor([[0, 0]]), one, one, CUBIC)
    assert down.loss.item() == pytest.approx(5e3, rel=1e-3)
    assert torch.isfinite(down.u).all()
    x, y, w, u = random_problem()
    with pytest.raises(DivergedError, match="learning rate"):
        trained(x, y, w, u, encoder_rate=1e5, head_rate=1e5, steps=20)


def test_fine_tuning_moves_head_and_encoder_at_once():
    x, y, w, u = random_problem()
    found = trained(x, y, w, u, encoder_rate=0.05, head_rate=0.2, steps=3, record_every=1)
    losses, accuracies = [], []
    for step in range(4):
        w, u = w.detach().requires_grad_(), u.detach().requires_grad_()
        loss, scores = cross_entropy(x, y, w, u)
        losses.append(loss.detach())
        accuracies.append((scores.argmax(-1) == y).double().mean(1))
        if step < 3:
            by_w, by_u = torch.autograd.grad(loss.sum(), (w, u))
            w, u = w - 0.05 * by_w, u - 0.2 * by_u
    torch.testing.assert_close(found.w, w.detach(), rtol=1e-10, atol=1e-12)
    torch.testing.assert_close(found.u, u.detach(), rtol=1e-10, atol=1e-12)
    torch.testing.assert_close(found.trace["loss"], torch.stack(losses))
    torch.testing.assert_close(found.trace["accuracy"], torch.stack(accuracies))
    strength = w.detach()[:, :, :3].amax(1).clamp(min=0)  # features are the first three axes
    torch.testing.assert_close(found.trace["strength"][-1][..., 0], strength)


def test_head_first_lets_the_encoder_see_the_new_head():
    x, y, w, u = random_problem()
    u = torch.zeros_like(u)
    found = trained(
        x, y, w, u, encoder_rate=0.1, head_rate=0.5, steps=2, order="u_then_w", record_every=1
    )
    losses, start = [], w
    for _ in range(2):
        down = classification_descent(x, y, w, u, CUBIC)
        losses.append(down.loss)
        u = u + 0.5 * down.u
        w = w + 0.1 * classification_descent(x, y, w, u, CUBIC).w
    torch.testing.assert_close(found.w, w, rtol=1e-12, atol=1e-14)
    torch.testing.assert_close(found.u, u, rtol=1e-12, atol=1e-14)
    # a row of the trace describes the state before the step
    torch.testing.assert_close(found.trace["loss"][:2], torch.stack(losses))
    assert (w - start).abs().max() > 1e-3
