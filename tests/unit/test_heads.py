"""Heads of all replicates at once; test_probe.py holds the solver against scikit-learn."""

import pytest
import torch
from sklearn.linear_model import Ridge
from torch import Tensor
from torch.nn import functional

from featlearn.core import heads
from featlearn.core.heads import NotConvergedError, choose, fit_path, regress

REPLICATES, CLASSES, WIDTH = 3, 4, 6


def drawn(samples: int, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Replicates that are harder and harder, their features of very different sizes."""
    stream = torch.Generator().manual_seed(seed)
    centres = torch.randn(REPLICATES, CLASSES, WIDTH, generator=torch.Generator().manual_seed(9))
    labels = torch.randint(CLASSES, (REPLICATES, samples), generator=stream)
    apart = torch.tensor([2.0, 0.7, 0.1])[:, None, None]
    own = centres[torch.arange(REPLICATES)[:, None], labels]
    x = apart * own + torch.randn(REPLICATES, samples, WIDTH, generator=stream)
    return x * torch.logspace(-4, 2, WIDTH) + 5, labels


def test_replicates_are_as_one_by_one():
    x, y = drawn(80)
    together = fit_path(x, y, CLASSES, [1e-1, 1e-4], tolerance=1e-12)[-1]
    for r in range(REPLICATES):
        alone = fit_path(x[r : r + 1], y[r : r + 1], CLASSES, [1e-1, 1e-4], tolerance=1e-12)[-1]
        torch.testing.assert_close(together.objective[r], alone.objective[0], rtol=1e-10, atol=0)
        torch.testing.assert_close(together.scores(x)[r], alone.scores(x[r : r + 1])[0])


def test_the_gradient_vanishes_in_the_original_units():
    x, y = drawn(80)
    penalty = 1e-2
    found = fit_path(x, y, CLASSES, [penalty], tolerance=1e-14)[0]
    weight = found.weight.clone().requires_grad_()
    bias = found.bias.clone().requires_grad_()
    scale = x.double().std(1, correction=0, keepdim=True)
    z = x.double() @ weight.mT + bias[:, None]
    loss = functional.cross_entropy(z.flatten(0, 1), y.flatten(), reduction="sum") / y.shape[1]
    objective = loss + penalty / 2 * (weight * scale).square().sum()
    by_weight, by_bias = torch.autograd.grad(objective, [weight, bias])
    standardised = (by_weight - by_bias[..., None] * x.double().mean(1, keepdim=True)) / scale
    assert float(standardised.abs().max()) < 1e-6
    assert float(by_bias.abs().max()) < 1e-6
    assert float(found.gradient.max()) < 1e-6
    assert float(objective.detach()) == pytest.approx(float(found.objective.sum()), rel=1e-12)


def test_two_samples_have_their_solution_in_closed_form():
    """One feature at +-1, two classes: w = w_1 - w_2 solves ``penalty w / 2 = sigmoid(-w)``."""
    x, y = torch.tensor([[[1.0], [-1.0]]]), torch.tensor([[0, 1]])
    found = fit_path(x, y, 2, [0.1], tolerance=1e-14)[0]
    w = float(found.weight[0, 0] - found.weight[0, 1])
    assert 0.1 * w / 2 == pytest.approx(float(torch.sigmoid(torch.tensor(-w))), rel=1e-5)
    assert float(found.bias[0, 0] - found.bias[0, 1]) == pytest.approx(0, abs=1e-9)


def test_each_replicate_keeps_the_penalty_that_is_best_for_it():
    training, validation = drawn(40), drawn(300, seed=1)
    penalties = [1e-6, 1.0, 1e-2, 1e-4]
    chosen = choose(training, validation, CLASSES, penalties)
    path = fit_path(*training, CLASSES, sorted(penalties, reverse=True))
    losses = torch.stack([one.loss(*validation) for one in path])
    for r in range(REPLICATES):
        best = int(losses[:, r].argmin())
        assert float(chosen.heads.penalty[r]) == path[best].penalty[r]
        assert torch.equal(chosen.heads.weight[r], path[best].weight[r])
        own = functional.cross_entropy(path[best].scores(validation[0])[r], validation[1][r])
        assert float(losses[best, r]) == pytest.approx(float(own))
    assert torch.equal(chosen.validation_accuracy, chosen.heads.accuracy(*validation))
    assert torch.equal(chosen.train_accuracy, chosen.heads.accuracy(*training))
    assert len(chosen.heads.penalty.unique()) > 1


def test_what_has_not_converged_is_named(monkeypatch):
    x, y = drawn(80)
    x[:2] = 0  # solved by its intercepts at once
    monkeypatch.setattr(heads, "NEWTON_STEPS", 2)
    with pytest.raises(NotConvergedError, match=r"head of replicate 2 at penalty 1e-06"):
        fit_path(x, y, CLASSES, [1e-6])


def test_labels_that_do_not_count_neither_train_nor_choose_nor_test():
    (x, y), (other, labels) = drawn(90), drawn(90, seed=1)
    several, rest = (functional.one_hot(each, CLASSES)[..., :2] for each in (y, labels))
    counted = torch.arange(90) % 3 > 0
    some, rest_of = (torch.where(counted[:, None], each, -1) for each in (several, rest))
    ours = choose((x, some), (other, rest_of), 2, [1e-2], tolerance=1e-12)
    direct = ((ours.heads.scores(x) > 0) == (some > 0))[:, counted].double().mean((1, 2))
    torch.testing.assert_close(ours.train_accuracy, direct)
    margin = (2 * rest - 1) * ours.heads.scores(other)
    wanted = functional.softplus(-margin)[:, counted].mean((1, 2))
    torch.testing.assert_close(ours.heads.loss(other, rest_of), wanted)


@pytest.mark.parametrize("samples", [60, 4])
def test_ridge_regression_is_that_of_scikit_learn(samples):
    """With more samples than features, and with fewer."""
    (x, _), (other, _) = drawn(samples), drawn(200, seed=1)
    y, wanted = (part.double().sum(-1).sin() + 3 for part in (x, other))
    penalties = (1e-3, 1e-1, 10.0)
    found = regress((x, y), (other, wanted), penalties)
    for r in range(REPLICATES):
        mean, scale = x[r].double().mean(0), x[r].double().std(0, correction=0)
        errors, guesses = [], []
        for penalty in penalties:
            model = Ridge(alpha=penalty * samples)
            model.fit(((x[r].double() - mean) / scale).numpy(), y[r].numpy())
            guess = torch.tensor(model.predict(((other[r].double() - mean) / scale).numpy()))
            errors.append(float((guess - wanted[r]).square().mean()))
            guesses.append(guess)
        best = errors.index(min(errors))
        assert float(found.penalty[r]) == penalties[best]
        torch.testing.assert_close(found.predict(other)[r], guesses[best], rtol=1e-6, atol=1e-8)
        own = min(errors) / float(wanted[r].square().mean())
        assert float(found.nmse(other, wanted)[r]) == pytest.approx(own)
