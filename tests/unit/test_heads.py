"""Heads of all replicates at once, and the probe on images: against scikit-learn."""

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import average_precision_score
from sklearn.neighbors import KNeighborsClassifier
from torch import Tensor
from torch.nn import functional

from featlearn.core.training import heads
from featlearn.core.training.heads import NotConvergedError, choose, regress
from featlearn.images import probes
from featlearn.images.probes import average_precision, choose_probe, nearest_neighbours

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
    together = heads.fit_path(x, y, CLASSES, [1e-1, 1e-4], tolerance=1e-12)[-1]
    for r in range(REPLICATES):
        one = x[r : r + 1], y[r : r + 1]
        alone = heads.fit_path(*one, CLASSES, [1e-1, 1e-4], tolerance=1e-12)[-1]
        torch.testing.assert_close(together.objective[r], alone.objective[0], rtol=1e-10, atol=0)
        torch.testing.assert_close(together.scores(x)[r], alone.scores(x[r : r + 1])[0])


def test_the_gradient_vanishes_in_the_original_units():
    x, y = drawn(80)
    penalty = 1e-2
    found = heads.fit_path(x, y, CLASSES, [penalty], tolerance=1e-14)[0]
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


def test_each_replicate_keeps_the_penalty_that_is_best_for_it():
    training, validation = drawn(40), drawn(300, seed=1)
    penalties = [1e-6, 1.0, 1e-2, 1e-4]
    chosen = choose(training, validation, CLASSES, penalties)
    path = heads.fit_path(*training, CLASSES, sorted(penalties, reverse=True))
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
    with pytest.raises(NotConvergedError, match=r"of replicate 2 at penalty 1e-06: after 2 steps"):
        heads.fit_path(x, y, CLASSES, [1e-6])


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


def features(
    images: int, width: int, *, apart: float = 0.5, seed: int = 0
) -> tuple[Tensor, Tensor]:
    """Correlated, rectified features of classes that lie ``apart``, and their labels."""
    stream = torch.Generator().manual_seed(seed)
    centres = apart * torch.randn(CLASSES, width, generator=stream)
    labels = torch.randint(CLASSES, (images,), generator=stream)
    mixing = torch.randn(width, width, generator=stream) / width**0.5
    x = (centres[labels] + torch.randn(images, width, generator=stream)) @ mixing
    return x.relu() * torch.logspace(-2, 2, width), labels


def standardised(x: Tensor) -> Tensor:
    x = x.double()
    return (x - x.mean(0)) / x.std(0, correction=0)


def objective(x: Tensor, y: Tensor, weight: Tensor, bias: Tensor, penalty: float) -> float:
    z = x.double() @ weight.double().T + bias
    if y.dim() == 1:
        loss = functional.cross_entropy(z, y)
    else:
        loss = functional.binary_cross_entropy_with_logits(z, y.double(), reduction="none")
        loss = loss.sum(1).mean()
    return float(loss + penalty / 2 * weight.square().sum())


def reference(x: Tensor, y: Tensor, penalty: float) -> tuple[Tensor, Tensor]:
    model = LogisticRegression(C=1 / (penalty * len(x)), tol=1e-9, max_iter=20_000)
    model.fit(x.numpy(), y.numpy())
    return torch.from_numpy(model.coef_), torch.from_numpy(model.intercept_)


@pytest.mark.parametrize(
    ("images", "width", "apart"), [(400, 12, 0.3), (400, 60, 0.5), (60, 100, 0.5)]
)
@pytest.mark.parametrize("penalty", [1e-1, 1e-3, 1e-5])
def test_the_optimum_is_that_of_scikit_learn(images, width, apart, penalty):
    x, y = features(images, width, apart=apart)
    x = standardised(x)  # by us, so that both see the same penalised coordinates
    fitted = probes.fit_path(x, y, CLASSES, [penalty], standardise=False)[0]
    expected = objective(x, y, *reference(x, y, penalty), penalty)
    assert fitted.objective == pytest.approx(expected, rel=1e-4)
    assert objective(x, y, fitted.weight, fitted.bias, penalty) == pytest.approx(fitted.objective)


def test_a_tighter_tolerance_gives_the_same_weights_as_scikit_learn():
    raw, y = features(300, 20, apart=0.3)
    x = standardised(raw)
    fitted = probes.fit_path(x, y, CLASSES, [1e-2], standardise=False, tolerance=1e-12)[0]
    ours = probes.fit_path(raw, y, CLASSES, [1e-2], tolerance=1e-12)[0]
    torch.testing.assert_close(ours.scores(raw), fitted.scores(x), rtol=0, atol=1e-4)
    weight, bias = reference(x, y, 1e-2)
    torch.testing.assert_close(fitted.weight, weight, rtol=0, atol=1e-5)
    shift = fitted.bias.mean() - bias.mean()
    torch.testing.assert_close(fitted.bias, bias + shift, rtol=0, atol=1e-5)


def test_a_class_or_a_feature_that_says_nothing_does_no_harm():
    x, y = features(200, 10)
    x[:, 3] = 7.0  # constant
    fitted = probes.fit_path(x, y, CLASSES + 1, [1e-3])[0]  # a class without an image
    assert fitted.weight.isfinite().all()
    assert (fitted.predict(x) < CLASSES).all()


def test_faulty_input_is_named():
    x, y = features(20, 5)
    with pytest.raises(ValueError, match=r"labels: expected integers from 0 to 1, got 0 to 3"):
        probes.fit_path(x, y, 2, [1.0])
    with pytest.raises(ValueError, match="features: expected finite"):
        probes.fit_path(x / 0, y, CLASSES, [1.0])
    with pytest.raises(ValueError, match=r"labels: expected a shape"):
        probes.fit_path(x, y[:-1], CLASSES, [1.0])
    with pytest.raises(ValueError, match="penalties: expected positive"):
        probes.fit_path(x, y, CLASSES, [1e-2, 0.0])
    with pytest.raises(ValueError, match=r"neighbours: \[30\]; expected from 1 to 20"):
        nearest_neighbours((x, y), x, CLASSES, (30,))


def several(images: int, width: int) -> tuple[Tensor, Tensor]:
    x, y = features(images, width, apart=0.4)
    return standardised(x), torch.stack([y == 0, y >= 2, y == 3], 1).long()


def test_several_labels_are_one_regression_a_class_over_those_that_count():
    x, y = several(300, 15)
    fitted = probes.fit_path(x, y, 3, [1e-2], standardise=False, tolerance=1e-10)[0]
    expected = 0.0
    for k in range(3):
        weight, bias = reference(x, y[:, k], 1e-2)
        expected += objective(x, y[:, k : k + 1], weight, bias, 1e-2)
    assert fitted.objective == pytest.approx(expected, rel=1e-7)
    y[:100, 1] = -1
    fitted = probes.fit_path(x, y, 3, [1e-2], standardise=False, tolerance=1e-10)[0]
    # the mean is over all 300 images, so fewer terms weigh as a penalty that is larger by 3/2
    rest = reference(x[100:], y[100:, 1], 1e-2 * 300 / 200)[0]
    torch.testing.assert_close(fitted.weight[1:2], rest, rtol=0, atol=1e-4)


def test_average_precision_is_that_of_scikit_learn_and_by_hand():
    stream = torch.Generator().manual_seed(0)
    scores = torch.randint(12, (50, 3), generator=stream).float()  # with ties
    labels = torch.randint(2, (50, 3), generator=stream)
    expected = [average_precision_score(labels[:, k], scores[:, k]) for k in range(3)]
    np.testing.assert_allclose(average_precision(scores, labels), expected, rtol=1e-12)
    scores = torch.tensor([[0.9], [0.8], [0.7], [0.6]])
    labels = torch.tensor([[1], [0], [1], [-1]])  # precision 1 to recall 1/2, then 2/3
    assert average_precision(scores, labels).item() == pytest.approx((1 + 2 / 3) / 2)
    assert average_precision(scores, torch.zeros(4, 1)).isnan().all()


def test_the_penalty_is_chosen_on_validation_and_the_probe_fitted_on_both_splits():
    x, y = features(120, 80, apart=0.35)
    other = features(400, 80, apart=0.35, seed=0)[0][120:], features(400, 80, apart=0.35)[1][120:]
    penalties = [1e-6, 1.0, 1e-2, 1e-4]
    path = probes.fit_path(x, y, CLASSES, sorted(penalties, reverse=True))
    scores = [float((one.predict(other[0]) == other[1]).double().mean()) for one in path]
    best = path[scores.index(max(scores))]  # the first of equals: the largest penalty
    assert choose_probe((x, y), other, CLASSES, penalties).penalty == best.penalty
    x, y = features(200, 10)
    chosen = choose_probe((x[:150], y[:150]), (x[150:], y[150:]), CLASSES)
    whole = probes.fit_path(x, y, CLASSES, [chosen.penalty])[0]
    assert torch.equal(chosen.weight, whole.weight)


VOTED = 5


def bank(images: int, seed: int) -> tuple[Tensor, Tensor]:
    centres = torch.randn(VOTED, 8, generator=torch.Generator().manual_seed(0))
    stream = torch.Generator().manual_seed(seed)
    labels = torch.randint(VOTED, (images,), generator=stream)
    return centres[labels] + torch.randn(images, 8, generator=stream), labels


@pytest.mark.parametrize("temperature", [None, 0.07])
def test_the_vote_is_that_of_scikit_learn(temperature):
    x, y = bank(300, 1)
    new, _ = bank(100, 2)

    def votes(distance: np.ndarray) -> np.ndarray:  # scikit-learn's cosine distance is 1 - s
        return np.ones_like(distance) if temperature is None else np.exp(-distance / temperature)

    ours = nearest_neighbours((x, y), new, VOTED, (1, 5, 20), temperature=temperature, chunk=33)
    for k, found in zip((1, 5, 20), ours, strict=True):
        model = KNeighborsClassifier(k, metric="cosine", weights=votes).fit(x.numpy(), y.numpy())
        shares = model.predict_proba(new.numpy())
        ordered = np.sort(shares, 1)
        clear = ordered[:, -1] - ordered[:, -2] > 1e-5  # of ties scikit-learn's order is its own
        assert clear.sum() > 50
        assert (shares.argmax(1) == found.numpy())[clear].all()


def test_of_equal_neighbours_the_first_count_and_of_equal_classes_the_first():
    x = torch.tensor([[1.0, 0.0], [2.0, 0.0], [3.0, 0.0], [0.0, 1.0]])  # three at similarity 1
    y = torch.tensor([2, 1, 1, 0])
    new = torch.tensor([[5.0, 0.0]])
    found = nearest_neighbours((x, y), new, 3, (1, 2, 3), temperature=None)
    assert found.flatten().tolist() == [2, 1, 1]
