"""Vectors, batched pre-training, and similarity of chapter 7."""

from __future__ import annotations

import pytest
import torch

from featlearn.core.seeds import Streams
from featlearn.universality.data import classes_of, draw_latent, draw_world, seen
from featlearn.universality.similarity import Similarity, debiased
from featlearn.universality.training import Recipe, encode, info_nce, pretrain, start, unit

STREAMS = Streams(0, "universality", "tests", range(2))


def _world():
    return draw_world((2, 3, 4), 3, 5, STREAMS("world"))


def test_samples_have_the_features_of_their_task_alone() -> None:
    world, tasks = _world(), torch.tensor([0, 2, 2, 1])
    random = STREAMS("samples")
    latent = draw_latent(world, tasks, random)
    one, two = (seen(world, latent, tasks, random) @ world.turn for _ in range(2))
    assert torch.allclose(one[..., :11], two[..., :11], atol=1e-5)  # a view keeps what is invariant
    assert not torch.allclose(one[..., 11:], two[..., 11:], atol=1e-1)
    assert torch.allclose(one[:, 1, 8:11], latent[1][:, 1], atol=1e-5)
    assert one[:, 1, 2:8].abs().max() < 1e-5
    assert classes_of(world, latent, 2).shape == (2, 4)


@pytest.mark.parametrize("method", ["simclr", "moco"])
def test_a_batch_of_networks_is_each_network_alone(method: str) -> None:
    world, recipe = _world(), Recipe(method, 4, 16, 1e-2)
    begun = start(world.width, 8, 4, [own for _ in range(2) for own in STREAMS("start")])
    alone = {key: value[2:].clone() for key, value in begun.items()}
    both = pretrain(begun, world, [[0], [0, 1, 2]], recipe, STREAMS("train"))
    one = pretrain(alone, world, [[0, 1, 2]], recipe, STREAMS("train"))
    for key, value in one.items():
        assert torch.allclose(both[key][2:], value, atol=1e-4), key


def test_info_nce_against_cross_entropy() -> None:
    random = torch.Generator().manual_seed(0)
    a, b = (unit(torch.randn(2, 6, 3, generator=random)) for _ in range(2))
    wanted = torch.nn.functional.cross_entropy(a[1] @ b[1].T / 0.3, torch.arange(6))
    assert info_nce(a, b, 0.3)[1].item() == pytest.approx(wanted.item(), abs=1e-5)


def test_pretraining_drops_what_is_spurious() -> None:
    world = _world()
    random = STREAMS("probe")
    tasks = torch.zeros(200, dtype=torch.long)
    latent = draw_latent(world, tasks, random)
    views = [seen(world, latent, tasks, random) for _ in range(2)]

    def agreement(weights) -> float:
        return float(
            (unit(encode(weights, views[0])) * unit(encode(weights, views[1]))).sum(-1).mean()
        )

    weights = start(world.width, 32, 4, STREAMS("start"))
    before = agreement(weights)
    trained = pretrain(weights, world, [[0]], Recipe("simclr", 150, 64, 3e-3), STREAMS("train"))
    assert agreement(trained) > before + 0.2


def test_cka_block_by_block_is_that_of_gram_matrices() -> None:
    random = torch.Generator().manual_seed(1)
    x = torch.randn(90, 4, generator=random, dtype=torch.float64) + 2
    y = x @ torch.randn(4, 6, generator=random, dtype=torch.float64) + torch.randn(
        90, 6, generator=random, dtype=torch.float64
    )
    turned = 3 * x @ torch.linalg.qr(torch.randn(4, 4, generator=random).double())[0]
    own = Similarity()
    for rows in (slice(0, 40), slice(40, 90)):
        own.add([x[rows], y[rows], turned[rows]])
    matrix = own.matrix()
    h = torch.eye(90, dtype=torch.float64) - 1 / 90
    k, m = h @ x @ x.T @ h, h @ y @ y.T @ h
    assert matrix[0, 1].item() == pytest.approx(float((k * m).sum() / k.norm() / m.norm()))
    assert matrix[0, 2].item() == pytest.approx(1)
    assert debiased(x, turned) == pytest.approx(1)


def test_debiased_cka_of_independent_features_is_near_zero() -> None:
    random = torch.Generator().manual_seed(2)
    values, biased = [], []
    for _ in range(20):
        x, y = (torch.randn(40, 20, generator=random) for _ in range(2))
        own = Similarity()
        own.add([x, y])
        biased.append(float(own.matrix()[0, 1]))
        values.append(debiased(x, y))
    assert abs(sum(values) / 20) < 0.06
    assert sum(biased) / 20 > 0.25
