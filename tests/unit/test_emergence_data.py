"""Samplers of chapter 2 against their exact moments, and enumeration."""

import itertools
import math

import pytest
import torch

from featlearn.core.seeds import generator
from featlearn.emergence import data

PARITY = data.Law("parity", 20, 5)
INTERVAL = data.Law("interval", 100, 30, interval=(20, 30))


def streams(purpose, replicates=2):
    return [generator("test", "emergence", replicate, purpose) for replicate in range(replicates)]


def drawn(law, number=40_000):
    world = data.World.draw(law, streams("world"))
    return world, data.sample(world, number, streams("data"))


def relevant_bits(world, samples):
    place = world.relevant[:, None].expand(-1, samples.hidden.shape[1], -1)
    return samples.hidden.gather(2, place).double()


def test_the_moments_that_the_thesis_and_its_sizes_give():
    law = data.Law("parity", 100, 5)
    assert (law.gamma, law.scale) == (0.25, 5.0)
    assert law.best_threshold_accuracy() == pytest.approx(27 / 32)
    assert data.Law("parity", 100, 3).best_threshold_accuracy() == pytest.approx(0.8125)
    assert law.majority_accuracy() == 0.5
    assert data.Law("parity", 100, 5, structured=False).gamma == 0
    assert INTERVAL.positive_share == pytest.approx(0.584760, abs=1e-6)
    assert INTERVAL.gamma == pytest.approx(0.0680068, abs=1e-6)
    assert INTERVAL.scale**2 == pytest.approx(24.166667, abs=1e-6)
    flat = data.Law("interval", 100, 30, interval=(20, 30), structured=False)
    assert flat.positive_share == pytest.approx(0.0493686, abs=1e-6)
    assert flat.gamma == pytest.approx(0.0186545, abs=1e-6)


@pytest.mark.parametrize("structured", [True, False])
def test_the_best_threshold_is_that_of_all_thresholds(structured):
    law = data.Law("parity", 9, 5, background=0.4, structured=structured)
    fair = law.background if structured else 1.0
    accuracy = dict.fromkeys(itertools.product(range(-1, 7), (1, -1)), 0.0)
    for bits in itertools.product((0, 1), repeat=5):
        c = sum(bits)
        chance = fair / 32 + (1 - fair) / 2 * (c in (0, 5))
        for threshold, sign in accuracy:
            guess = sign if c >= threshold else -sign
            accuracy[threshold, sign] += chance * (guess == (1 if c % 2 else -1))
    assert law.best_threshold_accuracy() == pytest.approx(max(accuracy.values()))


@pytest.mark.parametrize(
    "law",
    [
        PARITY,
        data.Law("parity", 20, 5, background=0.3),
        data.Law("parity", 20, 5, negative_share=0.8),
        data.Law("parity", 20, 5, structured=False),
        INTERVAL,
        data.Law("interval", 12, 5, interval=(2, 3), structured=False),
        data.Law("interval", 12, 5, counts=(1, 4, 5)),
    ],
    ids=["parity", "rare", "unbalanced", "parity-flat", "interval", "interval-flat", "counts"],
)
def test_samples_have_the_exact_moments(law):
    world, seen = drawn(law)
    n = seen.y.shape[1]
    bits = relevant_bits(world, seen)
    assert torch.equal(seen.count, bits.sum(2).long())
    assert torch.equal(seen.y, law.label(seen.count))
    error = 5 * 0.5 / math.sqrt(n)
    hidden = seen.hidden.double()
    assert (hidden.mean(1) - world.mean()).abs().max() < error
    assert (world.scale() - law.scale).abs().max() < 1e-12
    share = (seen.y > 0).double().mean(1)
    assert (share - law.positive_share).abs().max() < error
    y = seen.y.double()
    covariance = (y[..., None] * bits).mean(1) - y.mean(1)[:, None] * bits.mean(1)
    assert (covariance - law.gamma).abs().max() < 2 * error
    counts = torch.stack([(seen.count == c).double().mean(1) for c in range(law.relevant + 1)])
    assert (counts - law.count_law().sum(0)[:, None]).abs().max() < error
    assert seen.phi.square().sum(2).mean().item() == pytest.approx(1, abs=0.02)


def test_parity_labels_have_their_exact_share():
    _, seen = drawn(data.Law("parity", 20, 5, negative_share=0.9), 1000)
    assert (seen.y < 0).sum(1).tolist() == [900, 900]


def test_the_structured_component_has_all_relevant_patterns_or_none_and_rarer_others():
    """Others: Bernoulli(p_o / (2 - 2 p_o)), so that the mixture is independent at 1/2 only."""
    world, seen = drawn(data.Law("parity", 20, 5, background=0.3))
    ones = seen.component == 1
    assert set(seen.count[ones].tolist()) == {0, 5}
    rest = torch.ones(20, dtype=torch.bool)
    rest[world.relevant[0]] = False
    within = seen.hidden[0][ones[0]][:, rest].double().mean()
    assert within.item() == pytest.approx(0.3 / 1.4, abs=0.01)


def test_prototypes_label_by_their_table_and_have_its_moments():
    law = data.Law("prototypes", 30, 12, prototypes=10)
    world, seen = drawn(law)
    assert world.table is not None
    bits = relevant_bits(world, seen)
    for replicate in range(2):
        table = world.table[replicate].double()
        assert torch.equal(bits[replicate], table[seen.component[replicate]])
    assert torch.equal(seen.y > 0, seen.component < 5)
    moment = (seen.y[..., None] * seen.phi).mean(1).double()
    cosine = (moment * world.direction()).sum(1) / moment.norm(dim=1)
    assert cosine.min() > 0.99
    assert (seen.phi.mean(1)).abs().max() < 0.02
    law = data.Law("prototypes", 60, 30, prototypes=20)
    world = data.World.draw(law, streams("world", 200))
    assert world.scale().square().mean().sqrt().item() == pytest.approx(law.scale, rel=0.01)
    first, second = world.table.double().chunk(2, 1)
    c = (first.mean(1) - second.mean(1)) / 2
    assert c.square().mean().sqrt().item() == pytest.approx(law.weighted_gamma, rel=0.05)


def test_the_general_setting_has_the_scale_of_patterns_and_noise():
    world, seen = drawn(PARITY, 4000)
    columns, mu = data.incoherent(20, 60, 0.5, generator("incoherent"))
    inner = (columns.T @ columns - torch.eye(20, dtype=torch.float64)).abs().max()
    assert columns.norm(dim=0).sub(1).abs().max() < 1e-12
    assert mu == pytest.approx(60**0.5 * inner.item())
    assert mu > 0.1
    orthonormal = data.dictionary(20, 60, generator("columns"))
    x = data.inputs(seen, world, orthonormal, 0.3, generator("noise"))
    assert x.square().sum(2).mean().item() == pytest.approx(1, abs=0.02)
    clean = data.inputs(seen, world, orthonormal, 0.0, generator("noise"))
    assert torch.allclose(clean @ orthonormal, seen.phi.double(), atol=1e-6)


def test_the_hypercube_is_labelled_by_the_parity_of_its_corner():
    law = data.Hypercube(30, 4, 1.0)
    columns = data.dictionary(4, 30, generator("columns"))
    x, y, cluster = law.sample(columns, 20_000, generator("cube"))
    corner = law.signs().double()[cluster]
    assert torch.equal(y, corner.prod(1))
    noise = x - corner @ columns.T
    assert noise.std().item() == pytest.approx(law.noise_std, rel=0.01)
    assert cluster.bincount().min() > 20_000 / 16 * 0.8
    # a wrong sign in one of k directions is needed for an error
    wrong = ((x @ columns).sign() != corner).any(1).double().mean().item()
    assert wrong == pytest.approx(4 * 0.5 * math.erfc(1 / law.noise_std / 2**0.5), rel=0.2)


def test_a_mixture_has_its_share_of_injected_inputs():
    labelled, injected = torch.zeros(10, 2), torch.ones(6, 2)
    x, is_injected = data.alpha_mixture(labelled, injected, 0.4, generator("mixture"))
    assert torch.equal(x[:, 0] > 0, is_injected)
    assert is_injected.sum() == 4
    with pytest.raises(ValueError, match="6 rows; expected at least 8"):
        data.alpha_mixture(labelled, injected, 0.8, generator("mixture"))
    with pytest.raises(ValueError, match=r"share: 1\.5; expected"):
        data.alpha_mixture(labelled, injected, 1.5, generator("mixture"))
