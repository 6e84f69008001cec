"""Cross-entropy training: gradients, the first step, probe, fine-tuning, supervised training."""

import pytest
import torch
import torch.nn.functional as F

from featlearn.core.errors import DivergedError
from featlearn.mrp.gradients import classification_descent
from featlearn.mrp.model import Activation
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


def trained(x, y, w, u, **options):
    options = {"features": feature_axes(len(x), 3, 5), **options}
    return train_classifier(x, y, w, u, ACTIVATION, **options)


def feature_axes(replicates, classes, dimension, views=1):
    axes = torch.eye(dimension, dtype=torch.float64)[: classes * views]
    return axes.view(1, classes, views, dimension).expand(replicates, -1, -1, -1).clone()


def test_huge_scores_are_finite_and_what_leaves_the_finite_numbers_says_so():
    x, one = 1e4 * torch.eye(2).view(1, 2, 1, 2), torch.eye(2)[None]
    down = classification_descent(x, torch.tensor([[0, 0]]), one, one, ACTIVATION)
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


def test_the_trace_holds_the_start_the_steps_asked_for_and_the_end():
    x, y, w, u = random_problem()
    rates = {"encoder_rate": 0.01, "head_rate": 0.01}
    features = feature_axes(2, 3, 5)
    for steps, wanted in [(7, [0, 3, 6, 7]), (6, [0, 3, 6]), (0, [0])]:
        found = train_classifier(
            x, y, w, u, ACTIVATION, **rates, steps=steps, features=features, record_every=3
        )
        assert found.trace.steps == wanted
        assert found.trace["loss"].shape == (len(wanted), 2)
        assert found.trace["strength"].shape == (len(wanted), 2, 3, 1)


def test_a_replicate_trains_as_if_it_were_alone():
    x, y, w, u = random_problem(replicates=3)
    features = feature_axes(3, 3, 5)

    def run(which):
        given = [part[which] for part in (x, y, w, u)]
        rates = {"encoder_rate": 0.05, "head_rate": 0.2}
        return trained(*given, **rates, steps=10, features=features[which])

    together = run(slice(None))
    for r in range(3):
        alone = run(slice(r, r + 1))
        torch.testing.assert_close(together.w[r], alone.w[0], rtol=1e-11, atol=1e-13)
        torch.testing.assert_close(together.u[r], alone.u[0], rtol=1e-11, atol=1e-13)
        torch.testing.assert_close(together.trace["loss"][:, r], alone.trace["loss"][:, 0])


def test_head_first_lets_the_encoder_see_the_new_head():
    x, y, w, u = random_problem()
    u = torch.zeros_like(u)
    found = trained(
        x, y, w, u, encoder_rate=0.1, head_rate=0.5, steps=2, order="u_then_w", record_every=1
    )
    losses, start = [], w
    for _ in range(2):
        down = classification_descent(x, y, w, u, ACTIVATION)
        losses.append(down.loss)
        u = u + 0.5 * down.u
        w = w + 0.1 * classification_descent(x, y, w, u, ACTIVATION).w
    torch.testing.assert_close(found.w, w, rtol=1e-12, atol=1e-14)
    torch.testing.assert_close(found.u, u, rtol=1e-12, atol=1e-14)
    # a row of the trace describes the state before the step
    torch.testing.assert_close(found.trace["loss"][:2], torch.stack(losses))
    assert (w - start).abs().max() > 1e-3
