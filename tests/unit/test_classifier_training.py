"""Cross-entropy training: gradients, the first step, probe, fine-tuning, supervised training."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from featlearn.core.errors import DivergedError
from featlearn.mrp import blocks, train
from featlearn.mrp.gradients import classification_descent, encode_in_blocks, head_descent
from featlearn.mrp.model import Activation, encode, fixed_block_head
from featlearn.mrp.train import train_classifier

ACTIVATION = Activation(3, 0.3)


def random_problem(replicates=2, samples=7, patches=4, dimension=5, kernels=6, classes=3, seed=0):
    stream = torch.Generator().manual_seed(seed)

    def normal(*shape):
        return torch.randn(shape, generator=stream, dtype=torch.float64)

    x = normal(replicates, samples, patches, dimension)
    y = torch.randint(classes, (replicates, samples), generator=stream)
    return x, y, 0.3 * normal(replicates, kernels, dimension), normal(replicates, classes, kernels)


def cross_entropy(x, y, w, u, activation=ACTIVATION):
    """Mean cross-entropy (R,) and scores (R, N, k), written with einsum alone."""
    q, varrho = activation.q, activation.varrho
    pre = torch.einsum("rnpd,rkd->rnpk", x, w)
    inside = pre.clamp(min=0) ** q / (q * varrho ** (q - 1))
    s = torch.where(pre <= varrho, inside, pre - (1 - 1 / q) * varrho)
    scores = torch.einsum("rnk,rik->rni", s.sum(2), u)
    loss = torch.stack([F.cross_entropy(scores[r], y[r]) for r in range(len(y))])
    return loss, scores


def feature_axes(replicates, classes, dimension, views=1):
    axes = torch.eye(dimension, dtype=torch.float64)[: classes * views]
    return axes.view(1, classes, views, dimension).expand(replicates, -1, -1, -1).clone()


@pytest.mark.parametrize("q", [2, 3, 4, 6])
@pytest.mark.parametrize("sizes", [{}, {"replicates": 1, "samples": 1}, {"classes": 5, "seed": 3}])
def test_the_descent_is_minus_the_gradient_of_the_cross_entropy(q, sizes):
    x, y, w, u = random_problem(**sizes)
    activation = Activation(q, 0.3)
    w.requires_grad_()
    u.requires_grad_()
    loss, scores = cross_entropy(x, y, w, u, activation)
    by_w, by_u = torch.autograd.grad(loss.sum(), (w, u))
    found = classification_descent(x, y, w.detach(), u.detach(), activation)
    torch.testing.assert_close(found.w, -by_w, rtol=1e-10, atol=1e-12)
    torch.testing.assert_close(found.u, -by_u, rtol=1e-10, atol=1e-12)
    torch.testing.assert_close(found.loss, loss.detach(), rtol=1e-12, atol=1e-14)
    hits = (scores.argmax(-1) == y).double().mean(1)
    torch.testing.assert_close(found.accuracy, hits)


def test_accuracy_is_the_share_of_samples_whose_class_scores_highest():
    h = torch.tensor([[[1.0, 0.0], [0.0, 1.0], [2.0, 1.0], [0.0, 3.0]]])
    y = torch.tensor([[0, 1, 1, 1]])
    assert head_descent(h, y, torch.eye(2)[None]).accuracy.tolist() == [0.75]


@pytest.mark.parametrize("cache", [1, 9_000, 1 << 30])
def test_the_block_size_does_not_change_the_descent(monkeypatch, cache):
    x, y, w, u = random_problem(samples=11)
    wanted = classification_descent(x, y, w, u, ACTIVATION)
    monkeypatch.setattr(blocks, "CACHE_BYTES", cache)
    parts = list(blocks.responses(x, w, ACTIVATION))
    assert len(parts) == {1: 22, 9_000: 2, 1 << 30: 1}[cache]
    assert sum(part.x.shape[0] * part.x.shape[1] for part in parts) == 2 * 11 * 4
    found = classification_descent(x, y, w, u, ACTIVATION)
    for name in ("w", "u", "loss", "accuracy"):
        torch.testing.assert_close(
            getattr(found, name), getattr(wanted, name), rtol=1e-12, atol=1e-13
        )
    torch.testing.assert_close(
        encode_in_blocks(x, w, ACTIVATION),
        encode(x, w, ACTIVATION.q, ACTIVATION.varrho),
        rtol=1e-12,
        atol=1e-13,
    )


def test_a_frozen_encoder_gives_the_same_head_gradient():
    x, y, w, u = random_problem()
    whole = classification_descent(x, y, w, u, ACTIVATION)
    head = head_descent(encode(x, w, 3, 0.3), y, u)
    assert head.w is None
    for name in ("u", "loss", "accuracy"):
        torch.testing.assert_close(
            getattr(head, name), getattr(whole, name), rtol=1e-12, atol=1e-13
        )


def test_huge_scores_give_a_finite_loss():
    h = torch.tensor([[[1e4, 0.0], [0.0, 1e4]]])
    down = head_descent(h, torch.tensor([[0, 0]]), torch.eye(2)[None])
    assert down.loss.item() == pytest.approx(5e3)
    assert torch.isfinite(down.u).all()


def test_the_first_step_from_a_head_of_zeros_is_known():
    """Section 4.9: u^(1) = eta_2 mean_n (1{y = i} - 1/k) h_r, and the kernels do not move."""
    x, y, w, u = random_problem()
    classes = u.shape[1]
    trained = train_classifier(
        x,
        y,
        w,
        torch.zeros_like(u),
        ACTIVATION,
        encoder_rate=0.7,
        head_rate=1.9,
        steps=1,
        features=feature_axes(2, classes, 5),
    )
    h = encode(x, w, 3, 0.3)
    residual = F.one_hot(y, classes).double() - 1 / classes
    wanted = 1.9 * torch.einsum("rni,rnk->rik", residual, h) / x.shape[1]
    torch.testing.assert_close(trained.u, wanted, rtol=1e-12, atol=1e-14)
    assert torch.equal(trained.w, w)
    loss = trained.trace.stacked("loss")[0]
    torch.testing.assert_close(loss, torch.full_like(loss, classes).log())


def test_the_first_step_favours_the_winner_of_a_class_and_no_other():
    """Kernels that are features: u_(i,r) grows for the own class and falls for the others."""
    features = torch.eye(3, dtype=torch.float64)
    x = features.view(1, 3, 1, 3)  # sample i holds feature i
    y = torch.arange(3)[None]
    down = head_descent(encode(x, features[None], 3, 0.3), y, torch.zeros(1, 3, 3).double())
    own = torch.eye(3, dtype=torch.bool)
    assert (down.u[0][own] > 0).all()
    assert (down.u[0][~own] < 0).all()


def test_fine_tuning_moves_head_and_encoder_at_once():
    x, y, w, u = random_problem()
    found = train_classifier(
        x,
        y,
        w,
        u,
        ACTIVATION,
        encoder_rate=0.05,
        head_rate=0.2,
        steps=3,
        features=feature_axes(2, 3, 5),
        record_every=1,
    )
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
    torch.testing.assert_close(found.trace.stacked("loss"), torch.stack(losses))
    torch.testing.assert_close(found.trace.stacked("accuracy"), torch.stack(accuracies))
    strength = w.detach()[:, :, :3].amax(1).clamp(min=0)  # features are the first three axes
    torch.testing.assert_close(found.trace.stacked("strength")[-1][..., 0], strength)


def test_a_linear_probe_trains_the_head_on_the_encoder_it_was_given():
    x, y, w, u = random_problem()
    found = train_classifier(
        x,
        y,
        w,
        u,
        ACTIVATION,
        encoder_rate=0,
        head_rate=0.3,
        steps=5,
        features=feature_axes(2, 3, 5),
    )
    for _ in range(5):
        u = u + 0.3 * classification_descent(x, y, w, u, ACTIVATION).u
    assert torch.equal(found.w, w)
    torch.testing.assert_close(found.u, u, rtol=1e-11, atol=1e-13)


def test_a_linear_probe_runs_the_encoder_once(monkeypatch):
    x, y, w, u = random_problem()
    runs = []

    def counted(*given):
        runs.append(given)
        return encode_in_blocks(*given)

    monkeypatch.setattr(train, "encode_in_blocks", counted)
    monkeypatch.setattr(train, "classification_descent", None)  # would run it in every step
    settings = {"encoder_rate": 0, "head_rate": 0.3, "steps": 5}
    train_classifier(x, y, w, u, ACTIVATION, **settings, features=feature_axes(2, 3, 5))
    assert len(runs) == 1


def test_supervised_training_leaves_the_fixed_head_alone():
    x, y, w, _ = random_problem()
    head = fixed_block_head(3, 6, 2).double()
    found = train_classifier(
        x,
        y,
        w,
        head,
        ACTIVATION,
        encoder_rate=0.1,
        head_rate=0,
        steps=4,
        features=feature_axes(2, 3, 5),
    )
    for _ in range(4):
        w = w + 0.1 * classification_descent(x, y, w, head, ACTIVATION).w
    assert torch.equal(found.u, head)
    torch.testing.assert_close(found.w, w, rtol=1e-11, atol=1e-13)


def test_training_lowers_the_loss():
    x, y, w, u = random_problem()
    found = train_classifier(
        x,
        y,
        w,
        u,
        ACTIVATION,
        encoder_rate=0.02,
        head_rate=0.1,
        steps=60,
        features=feature_axes(2, 3, 5),
    )
    loss = found.trace.stacked("loss")
    assert (loss[-1] < loss[0]).all()


def test_the_trace_holds_the_start_the_steps_asked_for_and_the_end():
    x, y, w, u = random_problem()
    rates = {"encoder_rate": 0.01, "head_rate": 0.01}
    features = feature_axes(2, 3, 5)
    for steps, wanted in [(7, [0, 3, 6, 7]), (6, [0, 3, 6]), (0, [0])]:
        found = train_classifier(
            x, y, w, u, ACTIVATION, **rates, steps=steps, features=features, record_every=3
        )
        assert found.trace.steps == wanted
        assert found.trace.stacked("loss").shape == (len(wanted), 2)
        assert found.trace.stacked("strength").shape == (len(wanted), 2, 3, 1)


def test_training_does_not_change_what_it_was_given():
    given = random_problem()
    kept = [tensor.clone() for tensor in given]
    train_classifier(
        *given,
        ACTIVATION,
        encoder_rate=0.1,
        head_rate=0.1,
        steps=3,
        features=feature_axes(2, 3, 5),
    )
    for tensor, before in zip(given, kept, strict=True):
        assert torch.equal(tensor, before)


def test_a_replicate_trains_as_if_it_were_alone():
    x, y, w, u = random_problem(replicates=3)
    features = feature_axes(3, 3, 5)

    def run(which):
        return train_classifier(
            x[which],
            y[which],
            w[which],
            u[which],
            ACTIVATION,
            encoder_rate=0.05,
            head_rate=0.2,
            steps=10,
            features=features[which],
        )

    together = run(slice(None))
    for r in range(3):
        alone = run(slice(r, r + 1))
        torch.testing.assert_close(together.w[r], alone.w[0], rtol=1e-11, atol=1e-13)
        torch.testing.assert_close(together.u[r], alone.u[0], rtol=1e-11, atol=1e-13)
        torch.testing.assert_close(
            together.trace.stacked("loss")[:, r], alone.trace.stacked("loss")[:, 0]
        )


def test_a_run_that_leaves_the_finite_numbers_says_so():
    x, y, w, u = random_problem()
    with pytest.raises(DivergedError, match="learning rate"):
        train_classifier(
            x,
            y,
            w,
            u,
            ACTIVATION,
            encoder_rate=1e5,
            head_rate=1e5,
            steps=20,
            features=feature_axes(2, 3, 5),
        )
