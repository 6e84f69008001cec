"""The maximum margin of chapter 4: formula, constructions, one neuron, and what is misprinted."""

from math import cos, factorial, pi

import pytest
import torch

from featlearn.fourier.closed_forms import amplitude, frequencies, maximum_margin
from featlearn.fourier.constructions import PHASES, construct, thesis_phases
from featlearn.fourier.data import labels, tuples
from featlearn.fourier.experiments.theory import wrong_spread
from featlearn.fourier.network import Network, logits, look, neuron_norms, norm, normal_start
from featlearn.fourier.neuron import ascend, objective
from featlearn.fourier.spectra import circuits, contributions

ODD = [(2, 5), (2, 7), (3, 3), (3, 5), (3, 9), (4, 5), (5, 3)]


def random(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def cosine(z, p, x):
    return (2 * pi * z / p * x).cos()


@pytest.mark.parametrize(("k", "p"), ODD)
@pytest.mark.parametrize("name", PHASES)
def test_a_construction_attains_the_maximum_on_every_input(name, k, p):
    network = construct(name, k, p)
    margins = look(network).margins
    for value in margins:
        assert value.item() == pytest.approx(1, rel=1e-12)
    assert (
        network.w.shape[-1]
        == {"thesis": 4 ** (k - 1) * (p - 1), "grid": 3**k * ((p - 1) // 2)}[name]
    )
    norms = neuron_norms(network)
    assert norms.max() == pytest.approx(norms.min().item())
    assert norm(network).item() == pytest.approx(1)
    assert wrong_spread(network) < 1e-11
    seen = circuits(network)
    assert seen.single.all()
    assert seen.residual.max() < 1e-10
    torch.testing.assert_close(contributions(network) * frequencies(p),
                               torch.ones(1, frequencies(p), dtype=torch.float64))  # fmt: skip


@pytest.mark.parametrize(("p", "share"), [(4, 3 / 4), (6, 5 / 6)])
def test_an_even_modulus_misses_the_formula(p, share):
    network = construct("thesis", 3, p)
    assert look(network).margins.least.item() == pytest.approx(share)
    assert wrong_spread(network) > 0.1


def test_printed_sums_and_counts_of_neurons_are_others():
    for p in (5, 9, 13):
        sums = sum(cosine(z, p, torch.arange(p).double()) for z in range(1, frequencies(p) + 1))
        wanted = torch.full((p,), -0.5, dtype=torch.float64)
        wanted[0] = (p - 1) / 2
        torch.testing.assert_close(sums, wanted)
    phases = thesis_phases(3)
    assert len(phases) == 32
    rest = (phases[:, :-1].sum(1) - phases[:, -1]) / (2 * pi)
    torch.testing.assert_close(rest, rest.round())
    for p in (5, 7, 113):
        assert maximum_margin(2, p) == pytest.approx((2 / 27) ** 0.5 / (p**0.5 * (p - 1)))


@pytest.mark.parametrize(("k", "p"), [(2, 5), (3, 5)])
def test_logits_are_the_cosine_sums_times_a_constant(k, p):
    """C = beta^(k + 1) 2^(k - 1) k! of neurons of norm 1 (Lemma C.18)."""
    network = construct("thesis", k, p)
    unit = network.scaled(network.w.shape[-1] ** (1 / (k + 1)))
    a = tuples(torch.arange(p**k), k, p)
    apart = a.sum(-1, keepdim=True) - torch.arange(p)
    constant = amplitude(k, p) ** (k + 1) * 2 ** (k - 1) * factorial(k)
    wanted = sum(cosine(z, p, apart.double()) for z in range(1, frequencies(p) + 1))
    torch.testing.assert_close(logits(unit, a)[0], constant * wanted)


def objective_by_enumeration(vectors: torch.Tensor) -> torch.Tensor:
    """O of neurons ``vectors`` (..., k + 1, p), the output's last, over all p^k inputs: (...)."""
    k, p = vectors.shape[-2] - 1, vectors.shape[-1]
    a = tuples(torch.arange(p**k), k, p)
    h = sum(vectors[..., j, :][..., a[:, j]] for j in range(k))
    shifts = (labels(a, p)[:, None] - torch.arange(p)) % p
    eta = (h[..., None] ** k * vectors[..., k, :][..., shifts]).mean(-2)
    return eta[..., 0] - eta[..., 1:].mean(-1)


@pytest.mark.parametrize(("k", "p"), [(2, 5), (3, 5), (3, 6), (4, 3)])
def test_a_neurons_objective_by_fourier_transform(k, p):
    """Lemma C.14 with vectors of any mean; the thesis lets mixed terms vanish, they cancel."""
    vectors = torch.randn(5, k + 1, p, generator=random(), dtype=torch.float64)
    torch.testing.assert_close(objective(vectors), objective_by_enumeration(vectors))
    moved = vectors + torch.randn(5, k + 1, 1, generator=random(1), dtype=torch.float64)
    torch.testing.assert_close(objective(moved), objective(vectors))


@pytest.mark.parametrize(("k", "p"), [(2, 7), (3, 5), (4, 5)])
def test_a_phase_that_is_off_costs_its_cosine(k, p):
    angles = 2 * pi / p * torch.arange(p).double()
    for error in (0.0, 0.7, pi):
        vectors = amplitude(k, p) * torch.stack([angles.cos()] * k + [(angles + error).cos()])
        assert objective(vectors).item() == pytest.approx(maximum_margin(k, p) * cos(error))


@pytest.mark.parametrize(("k", "p"), [(2, 7), (3, 5), (4, 5)])
def test_ascent_ends_at_the_maximum_from_every_start(k, p):
    starts = torch.randn(10, k + 1, p, generator=random(), dtype=torch.float64)
    *_, end = ascend(starts, 300)
    ratios = objective(end) / maximum_margin(k, p)
    assert ratios.min() > 1 - 1e-6
    assert ratios.max() < 1 + 1e-12
    seen = circuits(Network(end[:, :-1, :, None], end[:, -1, :, None]))
    assert seen.single.all()
    sizes = end.square().sum(-1)
    torch.testing.assert_close(sizes, torch.full_like(sizes, 1 / (k + 1)), rtol=0, atol=1e-3)


@pytest.mark.parametrize(("k", "p"), [(2, 5), (3, 5)])
def test_margins_of_any_network_are_in_order_and_below_the_maximum(k, p):
    streams = [random(seed) for seed in range(20)]
    network = normal_start(k, p, 6, 1.0, streams)
    network = Network(network.u.double(), network.w.double())
    margins = look(network).margins
    assert (margins.least <= margins.mean).all()
    assert (margins.mean <= margins.spread + 1e-12).all()
    assert (margins.spread < 1).all()
    # a neuron adds its objective, a frequency its part
    scale = norm(network) ** (k + 1) * maximum_margin(k, p)
    own = objective(network.vectors().permute(0, 3, 1, 2)).sum(1) / scale
    torch.testing.assert_close(own, margins.spread)
    torch.testing.assert_close(contributions(network).sum(1), margins.spread)
    # and nothing depends on the size of the weights
    for first, second in zip(margins, look(network.scaled(3.0)).margins, strict=True):
        torch.testing.assert_close(first, second)


@pytest.mark.parametrize(("k", "p"), [(2, 5), (3, 5)])
def test_the_transform_of_a_network_of_maximum_margin(k, p):
    """Lemmas C.19, C.20: margin times p^k at (j, ..., j, -j); else 0 where the last is not 0."""
    network = construct("thesis", k, p)
    f = logits(network, tuples(torch.arange(p**k), k, p))[0].view(*[p] * (k + 1))
    transform = torch.fft.fftn(f)
    wanted = torch.zeros_like(transform)
    for j in range(1, p):
        wanted[(*[j] * k, -j % p)] = maximum_margin(k, p) * p**k
    torch.testing.assert_close(transform[..., 1:], wanted[..., 1:], rtol=0, atol=1e-12)
