"""Inputs and training of polynomial networks: gradient, optimiser, arms, spectra."""

from math import comb, pi

import numpy as np
import pytest
import torch
from torch.nn import functional

from featlearn.fourier.baselines import heads
from featlearn.fourier.closed_forms import expected_peak
from featlearn.fourier.data import index_of, labels, orbits, split, split_tuples, tuples
from featlearn.fourier.experiments.training import QUANTITIES, measure_all
from featlearn.fourier.network import Network, logits, look, norm, normal_start
from featlearn.fourier.spectra import circuits, folded_power
from featlearn.fourier.train import Adam, Training, add_penalty, batches, gradient, train
from unit import job_of
from unit.test_fourier_theory import random


def double(network: Network) -> Network:
    return Network(*(part.double() for part in network))


@pytest.mark.parametrize(("k", "p"), [(2, 7), (3, 5), (4, 5)])
def test_the_gradient_is_that_of_the_objective(k, p):
    network = double(normal_start(k, p, 6, 0.5, [random(0), random(1)]))
    a = torch.randint(p, (2, 9, k), generator=random(2))
    penalty = torch.tensor([0.3, 0.0], dtype=torch.float64)
    slope = gradient(network, a)
    add_penalty(slope, network, penalty)
    leaves = [part.clone().requires_grad_() for part in network]
    hidden = torch.einsum("rbkp,rkpm->rbm", functional.one_hot(a, p).double(), leaves[0]) ** k
    f = hidden @ leaves[1].mT
    torch.testing.assert_close(f, logits(network, a))
    losses = [functional.cross_entropy(f[r], labels(a, p)[r]) for r in range(2)]
    whole = sum(losses) + (penalty * norm(Network(*leaves))).sum()
    for own, by in zip(slope, torch.autograd.grad(whole, leaves), strict=True):
        torch.testing.assert_close(own, by)


def test_adam_is_that_of_pytorch_with_decay():
    start = normal_start(2, 5, 4, 1.0, [random()])
    network = Network(*(part.clone() for part in start))
    adam = Adam(network, torch.tensor([0.3]), (0.9, 0.98))
    leaves = [part.clone().requires_grad_() for part in start]
    theirs = torch.optim.AdamW(leaves, betas=(0.9, 0.98), weight_decay=0.3)
    for step in range(1, 6):
        slope = Network(*(part.sin() * step for part in network))
        theirs.param_groups[0]["lr"] = 0.01 / step
        for leaf, by in zip(leaves, slope, strict=True):
            leaf.grad = by.clone()
        theirs.step()
        adam.step(slope, 0.01 / step, step)
    for own, leaf in zip(network, leaves, strict=True):
        torch.testing.assert_close(own, leaf.detach())


def test_the_rate_rises_then_falls():
    training = Training(100, 0.5, "all", "cosine", warmup=10)
    rates = [training.rate_at(step) for step in range(100)]
    assert rates[0] == pytest.approx(0.05)
    assert max(rates) == rates[9]
    assert rates[-1] < 1e-3
    constant = Training(100, 0.5, "all", "constant", warmup=10)
    assert {constant.rate_at(step) for step in range(10, 100)} == {0.5}


def test_training_nears_the_maximum_margin_with_pure_neurons():
    k, p = 3, 5
    streams = [random(0), random(1)]
    training = Training(400, 5e-3, "all", "cosine")
    order = batches(torch.arange(p**k).expand(2, -1), k, p, training, [])
    end, kept = train(
        normal_start(k, p, 64, 0.1, streams), order, training, torch.full((2,), 1e-3),
        torch.zeros(2), lambda step, own: torch.tensor(step) if step in (0, 400) else None,
    )  # fmt: skip
    assert {step: value.item() for step, value in kept.items()} == {0: 0, 400: 400}
    found = look(end)
    assert found.right.all()
    # a network without the penalty is below .3
    assert found.margins.least.min() > 0.5
    assert found.margins.spread.max() <= 1
    assert circuits(end).peak.nanmedian() > 0.85


@pytest.mark.parametrize("p", [9, 10])
def test_a_cosine_is_one_bar_of_the_folded_spectrum(p):
    angles = 2 * pi / p * torch.arange(p).double()
    for frequency in range(1, p // 2 + 1):
        shares = folded_power((frequency * angles + 0.3).cos())
        assert shares.argmax() == frequency
        assert shares.max() == pytest.approx(1)
    shares = folded_power(3 + (2 * angles).cos())
    assert shares.tolist() == pytest.approx([18 / 19 if j == 0 else float(j == 2) / 19
                                             for j in range(p // 2 + 1)])  # fmt: skip


@pytest.mark.parametrize("p", [11, 47])
def test_the_expected_peak_of_noise(p):
    noise = torch.randn(4000, p, generator=random(), dtype=torch.float64)
    peaks = folded_power(noise)[:, 1:].amax(1)
    assert peaks.mean().item() == pytest.approx(expected_peak(p), rel=0.03)


def test_a_neuron_is_single_only_if_all_its_vectors_agree():
    p = 7
    angles = 2 * pi / p * torch.arange(p).double()
    one, two = angles.cos(), (2 * angles + 1).cos()
    vectors = torch.stack([
        torch.stack([one, one, one]), torch.stack([one, two, one]),
        torch.stack([one, one + two, one]), 1e-3 * torch.stack([one, one, one]),
    ])  # fmt: skip
    seen = circuits(Network(vectors[None, :, :2].permute(0, 2, 3, 1), vectors[None, :, 2].mT))
    assert seen.single.tolist() == [[True, False, False, True]]
    assert seen.active.tolist() == [[True, True, True, False]]
    assert seen.frequency[0, :, 1].tolist() == [1, 2, 1]


def measured(replicates: int = 2, **arms: int):
    training = {"steps": 12, "rate": 0.01, "batch_size": 10, "schedule": "cosine", "warmup": 2}
    cell = {
        "inputs": 2, "modulus": 5, "train_share": 0.6, "replicates": replicates, "std": 0.3,
        "looked_at": 20, "shown": 2, "training": training,
        "arms": {name: {"width": width, "penalty": 0.01, "decay": 0.0}
                 for name, width in arms.items()},
    }  # fmt: skip
    return measure_all(job_of({"some": cell}))


def test_what_is_measured_of_a_network_does_not_depend_on_the_others():
    alone = measured(narrow=3, wide=6)
    beside = measured(narrow=3, other=5, wide=6, replicates=3)
    for name in ("curves", "neurons"):
        own = beside[name]
        own = own[(own["arm"] != "other") & (own["replicate"] < 2)]
        key = "value" if name == "curves" else "peak"
        np.testing.assert_allclose(own[key], alone[name][key], rtol=1e-3, atol=1e-5)
    assert set(alone["curves"]["quantity"]) == set(QUANTITIES)
    assert set(alone["curves"]["step"]) >= {0, 12}
    assert set(alone["heads"]["method"]) == {"linear", "random features", "majority"}
    # the narrow arm has no more neurons than its width
    assert beside["neurons"].groupby("arm")["neuron"].max().to_dict() == {
        "narrow": 2, "other": 4, "wide": 5,
    }  # fmt: skip


def test_inputs_are_digits_and_permutations_one_orbit():
    assert tuples(torch.tensor([0, 5, 24]), 2, 5).tolist() == [[0, 0], [1, 0], [4, 4]]
    every = torch.arange(7**3)
    a = tuples(every, 3, 7)
    assert torch.equal(index_of(a, 7), every)
    assert len(torch.unique(a, dim=0)) == 7**3
    # all labels are as frequent
    assert labels(a, 7).bincount().tolist() == [49] * 7
    a = torch.tensor([[1, 4, 2], [4, 2, 1], [1, 4, 3]])
    first, second, third = orbits(index_of(a, 5), 3, 5).tolist()
    assert first == second != third
    assert len(orbits(torch.arange(125), 3, 5).unique()) == comb(5 + 3 - 1, 3)


@pytest.mark.parametrize("kind", ["tuples", "orbits", "mixed"])
def test_a_split_takes_each_input_once(kind):
    parts = split(kind, 3, 7, 0.5, random())
    assert torch.equal(torch.cat(parts).sort().values, torch.arange(343))
    assert abs(len(parts.train) - 343 / 2) <= 6
    again = split(kind, 3, 7, 0.5, random())
    assert torch.equal(parts.train, again.train)
    # whose permutation is taught: most, none, half
    own = orbits(torch.arange(343), 3, 7)
    known = torch.isin(own[parts.test], own[parts.train]).double().mean().item()
    assert known == pytest.approx({"tuples": 0.87, "orbits": 0, "mixed": 0.5}[kind], abs=0.07)


def test_no_head_adds_without_learned_features():
    k, p = 3, 11
    parts = split_tuples(k, p, 0.5, random())
    start = normal_start(k, p, 40, 0.1, [random(1)])
    found = {row["method"]: row for row in heads(start, *parts)}
    assert set(found) == {"linear", "random features", "majority"}
    assert all(row["value"] < 3 / p for row in found.values())
    # the features are used all the same
    assert found["random features"]["train"] > 1.5 / p
