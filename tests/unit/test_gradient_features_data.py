"""The laws and cones of chapter 3: against exact moments, sums and samples."""

import math

import pytest
import torch

from featlearn.core.errors import FeatlearnError
from featlearn.core.run.config import load
from featlearn.core.seeds import Streams, generator
from featlearn.gradient_features import data
from featlearn.gradient_features.cones import (
    alignment,
    cone_of_sure,
    sampling_noise,
    sure_event,
    sure_weights,
    xor_ratio,
)
from featlearn.gradient_features.config import majority_plateau
from featlearn.gradient_features.experiments import cones
from featlearn.gradient_features.experiments.learning import lottery, structure
from featlearn.gradient_features.experiments.lemmas import nice
from featlearn.gradient_features.law import Sample, reduced_weights
from featlearn.gradient_features.model import symmetric_start
from unit import ROOT, job_of

LAWS = {
    "linear": data.Linear(6, margin=0.3, spread=0.8, noise=0.7),
    "mixture": data.Mixture(8, norm=3.0, classes=(1, 1, -1), noise=0.8),
    "xor": data.Xor(6, noise=1.2),
    "parity": data.Parity(9, block=3, blocks=1, structured=0.2, background=0.15),
    "parity-blocks": data.Parity(11, block=3, blocks=3, structured=0.1, background=0.5),
    "uniform": data.UniformParity(9, block=4),
    "multi_index": data.MultiIndex(5, curvatures=(1.0, -0.5)),
    "quartic": data.MultiIndex(5, curvatures=(1.0, 0.5), quartics=(3.0,)),
}
COUNT = 200_000


def streams(count=1, name="test"):
    return Streams(0, "gradient_features", name, range(count))


def starts(law, count, seed=1, threshold=0.6):
    """Weights and thresholds: signs for uniform parity, else Gaussian."""
    random = torch.Generator().manual_seed(seed)
    w = torch.randn(count, law.dimension, generator=random, dtype=torch.float64)
    if isinstance(law, data.UniformParity):
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


def exact_gradient(law, w, b):
    """G(w, b) as a sum over the law's support."""
    inputs = law.support()
    active = (w @ inputs.x[0].mT > b[:, None]).to(w.dtype)
    return (active * (inputs.weight * inputs.y)[0]) @ inputs.x[0]


def test_labels_have_a_mean_of_0_and_a_square_of_1(drawn):
    _, inputs = drawn
    near(inputs.y.mean(), 0.0, inputs.y.std() / COUNT**0.5)
    near(inputs.y.square().mean(), 1.0, inputs.y.square().std() / COUNT**0.5)
    assert inputs.weight.sum().item() == pytest.approx(1)


def test_the_gradient_is_the_mean_over_samples_and_of_opposite_neurons(drawn):
    law, inputs = drawn
    w, b = starts(law, 6)
    # of a parity the closed form takes the background as Gaussian, which six signs are not
    found = exact_gradient(law, w, b) if isinstance(law, data.Parity) else law.gradient(w, b)
    active = (w @ inputs.x.mT > b[:, None]).double()
    each = active[..., None] * (inputs.y[:, None] * inputs.x)
    near(each.mean(1), found, each.std(1) / COUNT**0.5)
    # one of two opposite neurons is active: together they have E[y x]
    both = law.gradient(w, b) + law.gradient(-w, -b)
    torch.testing.assert_close(both, both[:1].expand_as(both), atol=1e-9, rtol=0)
    products = inputs.y[:, None] * inputs.x
    near(products.mean(0), both[0], products.std(0) / COUNT**0.5)


@pytest.mark.parametrize("name", [name for name, law in LAWS.items() if law.reducible])
def test_norms_are_enough_beyond_the_own_coordinates(name):
    law = LAWS[name]
    w, b = starts(law, 5)
    short = torch.cat([w[:, : law.own], w[:, law.own :].norm(dim=1, keepdim=True)], 1)
    full, small = law.gradient(w, b), law.reduced().gradient(short, b)
    torch.testing.assert_close(small[:, : law.own], full[:, : law.own])
    torch.testing.assert_close(small.norm(dim=1), full.norm(dim=1))


def test_reduced_weights_have_the_norms_of_gaussian_ones():
    law = data.Xor(400)
    (stream,) = streams()("reduced")
    w = reduced_weights(law, 50_000, stream)
    assert w.shape == (50_000, 3)
    squares = w[:, 2].square()
    near(squares.mean(), 398.0, squares.std() / 50_000**0.5)
    near(squares.var(), 2 * 398.0, 2 * 398.0 * (2 / 50_000) ** 0.5)
    near(w[:, :2].square().mean(0), 1.0, math.sqrt(2 / 50_000))


@pytest.mark.parametrize(("dimension", "block"), [(9, 2), (9, 4), (9, 6), (11, 4), (15, 4)])
def test_uniform_parity_against_the_sum_over_all_inputs(dimension, block):
    law = data.UniformParity(dimension, block)
    w, b = starts(law, 4)
    torch.testing.assert_close(law.gradient(w, b), exact_gradient(law, w, b), atol=1e-14, rtol=0)


def test_a_neuron_of_uniform_parity_finds_its_direction_if_it_is_constant_on_the_block():
    law = data.UniformParity(13, 4)
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
        found = [data.majority_coefficient(dimension, size) for size in (1, 3, 5)]
        assert found == pytest.approx(wanted, rel=1e-5)


@pytest.mark.parametrize(
    "change",
    [{"dimension": 10}, {"scale": 0.5}, {"threshold": 1.0}],
    ids=lambda one: next(iter(one)),
)
def test_the_closed_form_of_uniform_parity_says_where_it_ends(change):
    law = data.UniformParity(change.get("dimension", 9), 4)
    w = change.get("scale", 1.0) * torch.ones(1, law.dimension).double()
    with pytest.raises(ValueError, match="odd dimension"):
        law.gradient(w, torch.tensor([change.get("threshold", 0.5)]).double())


@pytest.mark.parametrize("law", [LAWS["parity"], data.Parity(9, 3, 3, 0.1, 0.3), LAWS["uniform"]])
def test_the_support_is_the_law(law):
    inputs = law.support()
    x, weight = inputs.x[0], inputs.weight[0]
    assert weight.sum().item() == pytest.approx(1)
    assert len(x.unique(dim=0)) == len(x[weight > 0].unique(dim=0))
    assert (inputs.y[0].abs() == 1).all()


def test_the_sum_over_the_background_is_nearly_gaussian():
    """The closed form of a parity against all inputs: the error shrinks with the background."""
    errors = []
    for others in (2, 4, 8):
        law = data.Parity(3 + others, 3, 1, 0.2, 0.3)
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


SURE = {
    "mixture": (data.Mixture(30, norm=5.0, classes=(1, -1, 1, -1)), 0.6),
    "xor": (data.Xor(30), 0.8),
    "parity": (data.Parity(30, 5, 1), 0.7),
    "parity_blocks": (data.Parity(30, 3, 3, 0.1, 0.2), 0.5),
}


def projections(law, w):
    return w[:, : law.own] @ law.directions[:, : law.own].mT


@pytest.mark.parametrize("name", SURE)
def test_sure_starts_are_those_of_plain_draws_that_are_sure(name):
    law, ratio = SURE[name]
    event = sure_event(law, ratio)
    plain = reduced_weights(law, 200_000, generator("plain"))
    z = projections(law, plain)
    others = z[:, 1:].abs() if event.two_sided else z[:, 1:]
    sure = (z[:, 0] >= event.low) & (others <= event.high).all(1)
    share = sure.double().mean().item()
    spread = (event.probability / len(plain)) ** 0.5
    assert share == pytest.approx(event.probability, abs=5 * spread)
    drawn = sure_weights(law, ratio, 20_000, generator("sure"))
    z = projections(law, drawn)
    assert (z[:, 0] >= event.low - 1e-9).all()
    wanted, found = plain[sure], drawn
    error = (wanted.var(0) / len(wanted) + found.var(0) / len(found)).sqrt()
    assert ((wanted.mean(0) - found.mean(0)).abs() <= 5 * error).all()
    assert ((wanted.std(0) - found.std(0)).abs() <= 6 * error).all()


def test_events_that_no_draw_meets_are_drawn():
    law = data.Mixture(100, norm=10.0)
    w = sure_weights(law, 7.0, 100, generator("rare"))
    assert sure_event(law, 7.0).probability < 1e-24
    assert w.isfinite().all()
    assert (w[:, 0] >= 10.5).all()
    off, size = cone_of_sure(law, 7.0, w)
    assert off.max() < 1e-4
    assert size.median().item() == pytest.approx(law.size, rel=0.02)


def test_alignment_is_a_cosine_or_share_and_the_xor_lemma_has_its_threshold():
    w = torch.tensor([[3.0, 4.0, 0, 0]])
    assert alignment(data.Xor(4), w).item() == pytest.approx(0.8)
    assert alignment(data.MultiIndex(4), w).item() == pytest.approx(1)
    assert alignment(data.Xor(4), torch.zeros(1, 4)).item() == 0
    assert xor_ratio(100, 2.0) == pytest.approx(2.472, abs=1e-3)


@pytest.mark.parametrize(
    ("name", "law"),
    [("xor", data.Xor(20)), ("multi_index", data.MultiIndex(12)), ("linear", data.Linear(10))],
)
def test_a_sampled_step_is_the_closed_form_with_noise(name, law):
    streams = Streams(0, "gradient_features", "test", range(2))
    frame = cones.neurons(name, law, 20_000, 1.0, 30, streams)
    # |G_n|^2 = |G|^2 + noise in the mean
    wanted = (frame["size"] ** 2 + frame["noise"]).mean()
    assert (frame["sampled_size"] ** 2).mean() == pytest.approx(wanted, rel=0.03)
    long = frame[frame["size"] > 0.5]
    assert (long["sampled"] - long["predicted"]).abs().mean() < 0.03
    assert set(frame["replicate"]) == {0, 1}


def test_the_error_of_sampled_gradients_is_that_of_a_mean():
    """It falls as n^(-1/2), where Lemma B.18 says n^(-1/3)."""
    law, streams = data.Xor(20, 1.0), Streams(0, "gradient_features", "test", range(1))
    start = symmetric_start(streams("start"), 10, 20, 1.0)
    wanted = law.gradient(start.w[0], start.b[0])
    x, y = (part[0] for part in law.sample(40 * 800, streams("inputs"))[:2])
    each = (x @ start.w[0].mT > start.b[0]).double() * y[:, None]  # (n, M)
    errors = {
        n: torch.stack([(e.mT @ part / n - wanted).square().sum(-1).mean()
                        for e, part in zip(each.split(n), x.split(n), strict=True)]).mean()
        for n in (50, 800)
    }  # fmt: skip
    assert (errors[50] / errors[800]).sqrt().item() == pytest.approx(4, rel=0.15)


def test_sampling_noise_is_the_variance_of_a_mean_over_samples():
    streams = Streams(0, "gradient_features", "noise", range(2))
    inputs = data.Xor(6, 1.0).sample(40, streams("inputs"))
    network = symmetric_start(streams("start"), 3, 6, 0.5)
    result = torch.full((2, len(network.w[0]), 6), 0.01, dtype=inputs.x.dtype)
    active = (inputs.x @ network.w.mT > network.b[:, None]).to(inputs.x.dtype)
    each = active[..., None] * (inputs.y[..., None] * inputs.x)[:, :, None]  # (R, n, M, d)
    wanted = (each.square().sum(-1).mean(1) - result.square().sum(-1)).clamp_min(0) / 40
    torch.testing.assert_close(sampling_noise(network, inputs, result), wanted)


@pytest.mark.parametrize("block", [3, 5, 9])
def test_the_plateau_is_the_accuracy_of_the_majority_by_enumeration(block):
    law = data.Parity(block + 1, block=block, blocks=1, structured=0.2)
    signal, weight, _ = law.patterns()
    right = (signal.sum(1).sign() == law.label(signal)).double()
    assert majority_plateau(block, 0.2) == pytest.approx((weight * right).sum().item())


def test_neurons_in_cones_are_chosen_and_as_many_by_chance():
    law = data.Xor(20, 1.0)
    streams = Streams(0, "gradient_features", "test", range(3))
    network = symmetric_start(streams("start"), 50, 20, 1.0)
    few = lottery(law, network, 0.6, 2, streams)
    assert few["in cones"].w.shape == few["by chance"].w.shape == (3, 2, 20)
    chosen = lottery(law, network, 0.6, 100, streams)
    inside = alignment(law, chosen["in cones"].w) > 0.4
    assert inside.all()
    assert chosen["by chance"].w.shape == chosen["in cones"].w.shape
    assert not (alignment(law, chosen["by chance"].w) > 0.4).all()
    # no neuron twice
    for weights, output in zip(chosen["in cones"].w, chosen["in cones"].a, strict=True):
        both = torch.cat([weights, output[:, None]], 1)
        assert len(torch.unique(both, dim=0)) == len(both)


def test_a_cone_that_holds_no_neuron_is_refused_by_its_key():
    law, streams = data.Xor(20, 1.0), Streams(0, "gradient_features", "test", range(2))
    network = symmetric_start(streams("start"), 5, 20, 1.0)
    with pytest.raises(FeatlearnError, match=r"lottery\.gamma: 1e-09"):
        lottery(law, network, 1e-9, 2, streams)
    with pytest.raises(FeatlearnError, match=r"lemmas\.nice: none of 20 starts with threshold 30"):
        list(nice(law, {"gamma": 0.05, "neurons": [10], "networks": 2, "threshold": 30}, streams))


@pytest.mark.long
def test_structure_puts_neurons_into_the_cone_which_uniform_inputs_do_not():
    config = load({"scale": "smoke", "papers": ["gradient_features"]}, ROOT)
    own = config["gradient_features"]["structure"] | {
        "dimension": 12, "block": 3, "steps": 60, "samples": 200,
        "sets": {"train": 800, "validation": 100, "test": 500}, "structured": 0.3,
    }  # fmt: skip
    made = structure(job_of(own, seed=3))
    hit = (made["neurons"]["sampled"] > 0.95).groupby(made["neurons"]["arm"])
    assert hit.mean()["structured"] > 0.9
    assert hit.mean()["none"] < 0.1
