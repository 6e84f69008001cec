"""The laws of chapter 3: samples against exact moments, gradients against sums and samples."""

import math

import pytest
import torch

from featlearn.core.seeds import Streams
from featlearn.gradient_features.data import (
    Linear,
    Mixture,
    MultiIndex,
    Parity,
    UniformParity,
    Xor,
    majority_coefficient,
)
from featlearn.gradient_features.law import Sample, exact_gradient, reduced_weights

LAWS = {
    "linear": Linear(6, margin=0.3, spread=0.8, noise=0.7),
    "mixture": Mixture(8, norm=3.0, classes=(1, 1, -1), noise=0.8),
    "xor": Xor(6, noise=1.2),
    "parity": Parity(9, block=3, blocks=1, structured=0.2, background=0.15),
    "parity-blocks": Parity(11, block=3, blocks=3, structured=0.1, background=0.5),
    "uniform": UniformParity(9, block=4),
    "multi_index": MultiIndex(5, curvatures=(1.0, -0.5)),
    "quartic": MultiIndex(5, curvatures=(1.0, 0.5), quartics=(3.0,)),
}
COUNT = 200_000


def streams(count=1, name="test"):
    return Streams(0, "gradient_features", name, range(count))


def starts(law, count, seed=1, threshold=0.6):
    """Weights and thresholds: signs for uniform parity, else Gaussian."""
    random = torch.Generator().manual_seed(seed)
    w = torch.randn(count, law.dimension, generator=random, dtype=torch.float64)
    if isinstance(law, UniformParity):
        return w.sign(), torch.linspace(-0.7, 0.7, count, dtype=torch.float64)
    sign = torch.ones(count, dtype=torch.float64)
    sign[1::2] = -1
    return w, sign * threshold * law.signal_std


@pytest.fixture(scope="module", params=LAWS)
def drawn(request):
    law = LAWS[request.param]
    inputs = law.sample(COUNT, streams()("draw"))
    return law, Sample(*(part[0] for part in inputs))


def near(found, exact, noise, deviations=5.0):
    """Within so many standard errors, of all entries at once."""
    assert ((found - exact).abs() <= deviations * noise + 1e-12).all(), (found, exact)


def test_samples_have_the_exact_moments(drawn):
    law, inputs = drawn
    squares = inputs.x.square().sum(1)
    near(squares.mean(), law.second_moment, squares.std() / COUNT**0.5)
    products = inputs.y[:, None] * inputs.x
    near(products.mean(0), law.label_mean, products.std(0) / COUNT**0.5)
    near(inputs.y.mean(), 0.0, inputs.y.std() / COUNT**0.5)
    near(inputs.y.square().mean(), 1.0, inputs.y.square().std() / COUNT**0.5)
    assert inputs.weight.sum().item() == pytest.approx(1)


def test_the_gradient_is_the_mean_over_samples_and_of_opposite_neurons(drawn):
    law, inputs = drawn
    w, b = starts(law, 6)
    # of a parity the closed form takes the background as Gaussian, which six signs are not
    found = exact_gradient(law, w, b) if isinstance(law, Parity) else law.gradient(w, b)
    active = (w @ inputs.x.mT > b[:, None]).double()
    each = active[..., None] * (inputs.y[:, None] * inputs.x)
    near(each.mean(1), found, each.std(1) / COUNT**0.5)
    law, _ = drawn
    w, b = starts(law, 8)
    both = law.gradient(w, b) + law.gradient(-w, -b)
    torch.testing.assert_close(both, law.label_mean.expand_as(both), atol=1e-9, rtol=0)


@pytest.mark.parametrize("name", [name for name, law in LAWS.items() if law.reducible])
def test_norms_are_enough_beyond_the_own_coordinates(name):
    law = LAWS[name]
    w, b = starts(law, 5)
    short = torch.cat([w[:, : law.own], w[:, law.own :].norm(dim=1, keepdim=True)], 1)
    full, small = law.gradient(w, b), law.reduced().gradient(short, b)
    torch.testing.assert_close(small[:, : law.own], full[:, : law.own])
    torch.testing.assert_close(small.norm(dim=1), full.norm(dim=1))


def test_reduced_weights_have_the_norms_of_gaussian_ones():
    law = Xor(400)
    (stream,) = streams()("reduced")
    w = reduced_weights(law, 50_000, stream)
    assert w.shape == (50_000, 3)
    squares = w[:, 2].square()
    near(squares.mean(), 398.0, squares.std() / 50_000**0.5)
    near(squares.var(), 2 * 398.0, 2 * 398.0 * (2 / 50_000) ** 0.5)
    near(w[:, :2].square().mean(0), 1.0, math.sqrt(2 / 50_000))


@pytest.mark.parametrize(("dimension", "block"), [(9, 2), (9, 4), (9, 6), (11, 4), (15, 4)])
def test_uniform_parity_against_the_sum_over_all_inputs(dimension, block):
    law = UniformParity(dimension, block)
    w, b = starts(law, 4)
    torch.testing.assert_close(law.gradient(w, b), exact_gradient(law, w, b), atol=1e-14, rtol=0)


def test_a_neuron_of_uniform_parity_finds_its_direction_if_it_is_constant_on_the_block():
    law = UniformParity(13, 4)
    w = torch.ones(2, 13, dtype=torch.float64)
    w[1, 0] = -1
    cosines = torch.cosine_similarity(law.gradient(w, torch.zeros(2)), law.directions).abs()
    found = 1 / math.sqrt(1 + (law.block - 1) ** 2 / (law.block * (13 - law.block)))
    assert cosines[0].item() == pytest.approx(found)
    assert cosines[1].item() == pytest.approx(found * (law.block - 2) / law.block)


def test_coefficients_of_the_majority():
    for dimension, wanted in {
        5: (0.375, -0.125, 0.375),
        7: (0.3125, -0.0625, 0.0625),
        11: (0.246094, -0.0273438, 0.0117188),
    }.items():
        found = [majority_coefficient(dimension, size) for size in (1, 3, 5)]
        assert found == pytest.approx(wanted, rel=1e-5)


@pytest.mark.parametrize(
    "change",
    [{"dimension": 10}, {"scale": 0.5}, {"threshold": 1.0}],
    ids=lambda one: next(iter(one)),
)
def test_the_closed_form_of_uniform_parity_says_where_it_ends(change):
    law = UniformParity(change.get("dimension", 9), 4)
    w = change.get("scale", 1.0) * torch.ones(1, law.dimension).double()
    with pytest.raises(ValueError, match="odd dimension"):
        law.gradient(w, torch.tensor([change.get("threshold", 0.5)]).double())


@pytest.mark.parametrize("law", [LAWS["parity"], Parity(9, 3, 3, 0.1, 0.3), LAWS["uniform"]])
def test_the_support_is_the_law(law):
    inputs = law.support()
    x, weight = inputs.x[0], inputs.weight[0]
    assert weight.sum().item() == pytest.approx(1)
    assert len(x.unique(dim=0)) == len(x[weight > 0].unique(dim=0))
    assert (weight @ x.square().sum(1)).item() == pytest.approx(law.second_moment)
    torch.testing.assert_close((weight * inputs.y[0]) @ x, law.label_mean, atol=1e-12, rtol=0)
    assert (inputs.y[0].abs() == 1).all()


def test_the_sum_over_the_background_is_nearly_gaussian():
    """The closed form of a parity against all inputs: the error shrinks with the background."""
    errors = []
    for others in (2, 4, 8):
        law = Parity(3 + others, 3, 1, 0.2, 0.3)
        w, b = starts(law, 40)
        errors.append((law.gradient(w, b) - exact_gradient(law, w, b)).norm(dim=1).mean().item())
    assert errors[2] < errors[0] / 2
    assert errors[2] < 0.05


def test_components_say_where_an_input_of_a_parity_is_from():
    law = LAWS["parity-blocks"]
    inputs = law.sample(4000, streams()("parts"))
    signal = inputs.x[0, :, : law.own].unflatten(1, (3, 3))
    for j in range(3):
        for place, sign in ((2 * j, 1), (2 * j + 1, -1)):
            own = signal[inputs.component[0] == place]
            assert len(own)
            assert (own[:, j] == sign).all()
            assert not own[:, [other for other in range(3) if other != j]].any()
    assert (signal[inputs.component[0] == -1].abs() == 1).all()
