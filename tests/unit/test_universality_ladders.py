"""Pre-training, similarity and closed forms of chapter 7."""

import math

import numpy as np
import pandas as pd
import pytest
import torch

from featlearn.core.seeds import Streams
from featlearn.universality import methods
from featlearn.universality.analysis import curves
from featlearn.universality.closed_forms import constrained_least_squares
from featlearn.universality.data import classes_of, draw_latent, draw_world, noise_of, seen
from featlearn.universality.similarity import alike, debiased
from featlearn.universality.training import Pool, fresh, pooled, pretrain

STREAMS = Streams(0, "universality", "tests", range(2))


def _world():
    return draw_world((2, 3, 4), 3, 5, STREAMS("world"))


def test_samples_have_the_features_of_their_task_alone() -> None:
    world, tasks = _world(), torch.tensor([0, 2, 2, 1])
    random = STREAMS("samples")
    latent = draw_latent(world, tasks, random)
    one, two = (
        seen(world, latent, tasks, noise_of(world, 4, random)) @ world.turn for _ in range(2)
    )
    assert torch.allclose(one[..., :11], two[..., :11], atol=1e-5)  # a view keeps what is invariant
    assert not torch.allclose(one[..., 11:], two[..., 11:], atol=1e-1)
    assert torch.allclose(one[:, 1, 8:11], latent[1][:, 1], atol=1e-5)
    assert one[:, 1, 2:8].abs().max() < 1e-5
    assert classes_of(world, latent, 2).shape == (2, 4)


def _pretrained(weights, world, spans, recipe):
    views = fresh(world, spans, recipe.batch, STREAMS("train"))
    return pretrain(weights, views, recipe, STREAMS("heads")).weights


@pytest.mark.parametrize("method", sorted(methods.METHODS))
def test_a_batch_of_networks_is_each_network_alone(method: str) -> None:
    world, recipe = _world(), methods.Recipe(method, 4, 16, 1e-3)
    begun = methods.start(world.width, 8, 4, [own for _ in range(2) for own in STREAMS("start")])
    alone = {key: value[2:].clone() for key, value in begun.items()}
    both = _pretrained(begun, world, [[0], [0, 1, 2]], recipe)
    one = _pretrained(alone, world, [[0, 1, 2]], recipe)
    for key, value in one.items():
        assert torch.allclose(both[key][2:], value, atol=1e-4), key


def test_info_nce_against_cross_entropy() -> None:
    random = torch.Generator().manual_seed(0)
    a, b = (methods.unit(torch.randn(2, 6, 3, generator=random)) for _ in range(2))
    wanted = torch.nn.functional.cross_entropy(a[1] @ b[1].T / 0.3, torch.arange(6))
    assert methods.info_nce(a, b, 0.3)[1].item() == pytest.approx(wanted.item(), abs=1e-5)


@pytest.mark.parametrize("method", sorted(methods.METHODS))
def test_pretraining_drops_what_is_spurious(method: str) -> None:
    world = _world()
    random = STREAMS("probe")
    tasks = torch.zeros(200, dtype=torch.long)
    latent = draw_latent(world, tasks, random)
    views = [seen(world, latent, tasks, noise_of(world, 200, random)) for _ in range(2)]

    def agreement(weights) -> float:
        one, other = (methods.unit(methods.encode(weights, view)) for view in views)
        return float((one * other).sum(-1).mean())

    weights = methods.start(world.width, 32, 4, STREAMS("start"))
    before = agreement(weights)
    trained = _pretrained(weights, world, [[0]], methods.Recipe(method, 150, 64, 1e-2))
    assert agreement(trained) > before + 0.2


def test_cka_is_that_of_gram_matrices() -> None:
    random = torch.Generator().manual_seed(1)
    x = torch.randn(90, 4, generator=random, dtype=torch.float64) + 2
    y = x @ torch.randn(4, 6, generator=random, dtype=torch.float64) + torch.randn(
        90, 6, generator=random, dtype=torch.float64
    )
    turned = 3 * x @ torch.linalg.qr(torch.randn(4, 4, generator=random).double())[0]
    matrix = alike([x, y, turned])
    h = torch.eye(90, dtype=torch.float64) - 1 / 90
    k, m = h @ x @ x.T @ h, h @ y @ y.T @ h
    assert matrix[0, 1].item() == pytest.approx(float((k * m).sum() / k.norm() / m.norm()))
    assert matrix[0, 2].item() == pytest.approx(1)
    assert debiased(x, turned) == pytest.approx(1)


def test_cka_of_the_linear_model_is_its_closed_form() -> None:
    """(s + q b b') / sqrt((s + q b^2) (s + q b'^2)): private features weighted b and b'."""
    z = torch.randn(20_000, 8, generator=torch.Generator().manual_seed(0))
    weights = (1, 1 / 2, 1 / 3, 1 / 4, 0)  # sqrt(beta) is 1 / sqrt(T); none of another task
    scales = [torch.tensor([1.0] * 4 + [weight**0.5] * 4) for weight in weights]
    wanted = [
        [(1 + a * b) / math.sqrt((1 + a * a) * (1 + b * b)) for b in weights] for a in weights
    ]
    assert wanted[0] == pytest.approx([1, 0.9487, 0.8944, 0.8575, 0.7071], abs=1e-4)
    assert wanted[1][2:4] == pytest.approx([0.98995, 0.9762], abs=1e-4)
    assert alike([z * scale for scale in scales]).numpy() == pytest.approx(
        np.array(wanted), abs=0.005
    )


def test_debiased_cka_of_independent_features_is_near_zero() -> None:
    random = torch.Generator().manual_seed(2)
    values, biased = [], []
    for _ in range(20):
        x, y = (torch.randn(40, 20, generator=random) for _ in range(2))
        biased.append(float(alike([x, y])[0, 1]))
        values.append(debiased(x, y))
    assert abs(sum(values) / 20) < 0.06
    assert sum(biased) / 20 > 0.25
    assert debiased(x, y) == pytest.approx(by_matrices(x.double().numpy(), y.double().numpy()))


def by_matrices(x, y):
    """CKA from the unbiased HSIC of Song et al. (2012), equation 5."""
    n = len(x)

    def hsic(a, b):
        k, m = ((z - z.mean(0)) @ (z - z.mean(0)).T for z in (a, b))
        np.fill_diagonal(k, 0)
        np.fill_diagonal(m, 0)
        rest = k.sum() * m.sum() / ((n - 1) * (n - 2)) - 2 * (k @ m).sum() / (n - 2)
        return ((k * m).sum() + rest) / (n * (n - 3))

    return hsic(x, y) / np.sqrt(hsic(x, x) * hsic(y, y))


def test_a_query_of_moco_meets_its_key_and_the_queue() -> None:
    random = STREAMS("moco")
    weights = methods.start(5, 6, 3, random)
    method = methods.MoCo({key: value.clone() for key, value in weights.items()}, 0.5, random)
    one, two = (torch.randn(2, 4, 5, generator=torch.Generator().manual_seed(n)) for n in (0, 1))
    method.loss(one, two)
    queue = method.queue[0]
    assert queue.shape == (2, 8, 3)
    assert torch.allclose(queue[:, :4], methods.unit(methods.encode(weights, two)), atol=1e-6)
    loss = method.loss(two, one)[1]
    a, b = (methods.unit(methods.encode(weights, view))[1] for view in (two, one))
    wanted = 0.0
    for query, key in ((a, b), (b, a)):
        logits = torch.cat([(query * key).sum(1, keepdim=True), query @ queue[1].T], 1) / 0.5
        wanted += torch.nn.functional.cross_entropy(logits, torch.zeros(4).long()).item()
    assert loss.item() == pytest.approx(wanted, abs=1e-5)


def test_simsiam_does_not_differentiate_its_target() -> None:
    random = STREAMS("simsiam")
    method = methods.SimSiam(methods.start(5, 6, 3, random), 0.2, random)
    z = [torch.randn(2, 7, 3, generator=random[0], requires_grad=True) for _ in range(2)]
    method.heads["predict"].zero_().add_(torch.eye(3))
    loss = method.judged((z[0], z[1].detach()), (z[0], z[1])).sum()
    own = torch.autograd.grad(loss, z[0])[0]
    both = method.judged((z[0], z[1]), (z[0], z[1])).sum()
    assert torch.allclose(torch.autograd.grad(both, z[0])[0], own, atol=1e-6)


def test_a_pool_gives_its_own_samples() -> None:
    world, random = _world(), STREAMS("pool")
    pool = Pool(torch.tensor([2, 0]), torch.randn(2, 2, 2), torch.randn(2, 2, 3))
    one, two = next(pooled(world, [pool], 30, random))
    latent = (one @ world.turn)[..., :2]
    distance = (latent[:, :, None] - pool.shared[:, None]).abs().sum(-1).amin(-1)
    assert distance.max() < 1e-4
    assert not torch.allclose(one, two)


def test_averages() -> None:
    config = {"mixtures": [1, 4], "class_weights": [1, 3], "samples": {"train": 100}}
    rows = [{"world": "w", "arm": "a", "mixture": 1, "replicate": 0, "labels": 100, "task": task,
             "value": value} for task, value in ((0, 1.0), (3, 0.0))]  # fmt: skip
    found = curves(pd.DataFrame(rows), config, 100).set_index("curve")["value"]
    assert found.to_dict() == {"average": 0.5, "weighted": 0.25, "target": 1.0}


@pytest.mark.parametrize(
    ("b", "norm", "near", "far"),
    [(0.05, 1.1902, 0.0405, 1.176), (0.1, 0.9864, 0.0353, 1.172), (0.15, 0.8060, 0.0287, 1.148),
     (0.2, 0.5887, 0.0191, 1.046), (0.24, 0.2776, 0.0056, 0.544)]
)  # fmt: skip
def test_how_far_rare_states_are_apart_above_the_threshold(b, norm, near, far) -> None:
    threshold, angles = math.sqrt(math.log(1 / b - 3) / 2), np.linspace(0, np.pi / 2, 4001)
    assert threshold == pytest.approx(norm, abs=1e-4)
    x, y = np.cos(angles), np.sin(angles)
    points = np.stack([[-np.ones_like(x), x, x], [np.zeros_like(x), y, -y]]).T
    losses = [pair_loss(times * threshold * points, [1 - 2 * b, b, b]) for times in (0.99, 1.01, 2)]
    assert [1 - np.cos(2 * angles[own.argmin()]) for own in losses] == pytest.approx(
        [0, near, far], abs=1e-3
    )


def test_four_states_are_a_square_on_the_circle_and_a_simplex_on_a_sphere() -> None:
    angles = 2 * np.pi * np.random.default_rng(1).random((5000, 4))
    even, square = np.full(4, 0.25), np.array([[-1, 0], [1, 0], [0, -1], [0, 1]])
    least = pair_loss(np.stack([np.cos(angles), np.sin(angles)], -1), even).min()
    assert pair_loss(square, even) <= least < pair_loss(square, even) + 0.01
    simplex = np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]]) / 3**0.5
    assert pair_loss(simplex, even) < pair_loss(square, even) - 0.01


def pair_loss(points, probabilities):
    """Theorem 7.2: mean of log(1 + exp(-h(z)^T (h(z) - h(z'))) over states z, z', (..., n, k)."""
    inner = points @ np.swapaxes(points, -1, -2)
    t = np.diagonal(inner, axis1=-2, axis2=-1)[..., None] - inner
    return (np.outer(probabilities, probabilities) * np.logaddexp(0, -t)).sum((-2, -1))


def test_probe_is_the_constrained_optimum() -> None:
    random = np.random.default_rng(3)
    x, y = random.standard_normal((12, 5)), random.standard_normal(12)
    free = constrained_least_squares(x, y, 100.0)
    assert free == pytest.approx(np.linalg.lstsq(x, y, rcond=None)[0], abs=1e-10)
    most = np.linalg.norm(free) / 2
    bound = constrained_least_squares(x, y, most)
    assert np.linalg.norm(bound) == pytest.approx(most, rel=1e-6)
    slope = x.T @ (x @ bound - y)  # antiparallel to u where the norm binds
    assert slope @ bound == pytest.approx(-np.linalg.norm(slope) * most, rel=1e-6)
