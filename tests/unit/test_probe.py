"""The linear probe against scikit-learn, and what it promises besides."""

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.neighbors import KNeighborsClassifier
from torch import Tensor
from torch.nn import functional

from featlearn.core import heads
from featlearn.core.heads import NotConvergedError
from featlearn.images.probes import average_precision, choose_probe, fit_path, nearest_neighbours

CLASSES = 4


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
    """The penalised objective, written out."""
    z = x.double() @ weight.double().T + bias
    if y.dim() == 1:
        loss = functional.cross_entropy(z, y)
    else:
        loss = functional.binary_cross_entropy_with_logits(z, y.double(), reduction="none")
        loss = loss.sum(1).mean()
    return float(loss + penalty / 2 * weight.square().sum())


def reference(x: Tensor, y: Tensor, penalty: float) -> tuple[Tensor, Tensor]:
    """scikit-learn's weight and bias at ``C = 1 / (penalty * N)``."""
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
    fitted = fit_path(x, y, CLASSES, [penalty], standardise=False)[0]
    expected = objective(x, y, *reference(x, y, penalty), penalty)
    assert fitted.objective == pytest.approx(expected, rel=1e-4)
    assert objective(x, y, fitted.weight, fitted.bias, penalty) == pytest.approx(fitted.objective)


def test_a_tighter_tolerance_gives_the_same_weights_as_scikit_learn():
    """And features that are standardised here the same as those that come so."""
    raw, y = features(300, 20, apart=0.3)
    x = standardised(raw)
    fitted = fit_path(x, y, CLASSES, [1e-2], standardise=False, tolerance=1e-12)[0]
    ours = fit_path(raw, y, CLASSES, [1e-2], tolerance=1e-12)[0]
    torch.testing.assert_close(ours.scores(raw), fitted.scores(x), rtol=0, atol=1e-4)
    weight, bias = reference(x, y, 1e-2)
    torch.testing.assert_close(fitted.weight, weight, rtol=0, atol=1e-5)
    shift = fitted.bias.mean() - bias.mean()
    torch.testing.assert_close(fitted.bias, bias + shift, rtol=0, atol=1e-5)


def test_a_warm_start_changes_the_way_and_not_the_end():
    x, y = features(400, 30, apart=0.3)
    penalties = [1.0, 1e-1, 1e-2, 1e-3]
    path = fit_path(x, y, CLASSES, penalties, tolerance=1e-10)
    alone = fit_path(x, y, CLASSES, penalties[-1:], tolerance=1e-10)[0]
    assert path[-1].objective == pytest.approx(alone.objective, rel=1e-9)


def test_a_class_or_a_feature_that_says_nothing_does_no_harm():
    x, y = features(200, 10)
    x[:, 3] = 7.0  # constant
    fitted = fit_path(x, y, CLASSES + 1, [1e-3])[0]  # a class without an image
    assert fitted.weight.isfinite().all()
    assert (fitted.predict(x) < CLASSES).all()


def test_a_solver_that_does_not_arrive_and_faulty_input_are_named(monkeypatch):
    x, y = features(200, 10)
    monkeypatch.setattr(heads, "NEWTON_STEPS", 1)
    with pytest.raises(NotConvergedError, match=r"penalty 1e-06: after 1 steps"):
        fit_path(x, y, CLASSES, [1e-6])
    x, y = features(20, 5)
    with pytest.raises(ValueError, match=r"labels: expected integers from 0 to 1, got 0 to 3"):
        fit_path(x, y, 2, [1.0])
    with pytest.raises(ValueError, match="features: expected finite"):
        fit_path(x / 0, y, CLASSES, [1.0])
    with pytest.raises(ValueError, match=r"labels: expected a shape"):
        fit_path(x, y[:-1], CLASSES, [1.0])
    with pytest.raises(ValueError, match="penalties: expected positive"):
        fit_path(x, y, CLASSES, [1e-2, 0.0])
    with pytest.raises(ValueError, match=r"neighbours: \[30\]; expected from 1 to 20"):
        nearest_neighbours((x, y), x, CLASSES, (30,))


def several(images: int, width: int) -> tuple[Tensor, Tensor]:
    x, y = features(images, width, apart=0.4)
    return standardised(x), torch.stack([y == 0, y >= 2, y == 3], 1).long()


def test_several_labels_are_one_regression_a_class_over_those_that_count():
    x, y = several(300, 15)
    fitted = fit_path(x, y, 3, [1e-2], standardise=False, tolerance=1e-10)[0]
    expected = 0.0
    for k in range(3):
        weight, bias = reference(x, y[:, k], 1e-2)
        expected += objective(x, y[:, k : k + 1], weight, bias, 1e-2)
    assert fitted.objective == pytest.approx(expected, rel=1e-7)
    x, y = several(300, 15)
    y[:100, 1] = -1
    fitted = fit_path(x, y, 3, [1e-2], standardise=False, tolerance=1e-10)[0]
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
    path = fit_path(x, y, CLASSES, sorted(penalties, reverse=True))
    scores = [float((one.predict(other[0]) == other[1]).double().mean()) for one in path]
    best = path[scores.index(max(scores))]  # the first of equals: the largest penalty
    assert choose_probe((x, y), other, CLASSES, penalties).penalty == best.penalty
    x, y = features(200, 10)
    chosen = choose_probe((x[:150], y[:150]), (x[150:], y[150:]), CLASSES)
    whole = fit_path(x, y, CLASSES, [chosen.penalty])[0]
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
