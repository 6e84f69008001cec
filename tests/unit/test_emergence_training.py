"""Networks of chapter 2: gradients against autograd, reduced coordinates against full ones."""

import itertools
import math
from dataclasses import replace

import pytest
import torch

from featlearn.core.seeds import generator
from featlearn.emergence import train
from featlearn.emergence.data import Law, World, dictionary, sample
from featlearn.emergence.model import (
    Network,
    cosines,
    directions,
    full_gradients,
    output,
    outside,
    smoothed,
    smoothed_and_slope,
    symmetric_start,
    truncated_relu,
    with_one,
)
from unit.test_emergence_data import streams

LAW = Law("parity", 12, 3)
STAGE = {"momentum": 0.9, "weight_rate": 1e-3, "head_rate": 10.0}


def problem(law=LAW, number=60, pairs=8):
    world = World.draw(law, streams("world"))
    seen = sample(world, number, streams("data"))
    start = symmetric_start(pairs, law.patterns, (0.5, 0.3, 0.5), streams("start"), torch.float64)
    jolt = torch.randn(start.a.shape, generator=generator("jolt"), dtype=torch.float64)
    return Network(start.rows, start.a + jolt), with_one(seen.phi.double()), seen.y.double(), world


def test_the_smoothed_activation_is_the_mean_over_the_noise():
    z = torch.linspace(-1.5, 2.5, 41, dtype=torch.float64, requires_grad=True)
    grid = torch.linspace(-8, 8, 20_001, dtype=torch.float64)
    density = torch.exp(-grid.square() / 2) / math.sqrt(2 * math.pi)
    values = truncated_relu(z[:, None] + 0.3 * grid) * density
    mean = torch.trapezoid(values, grid, dim=1)
    assert torch.allclose(smoothed(z, 0.3), mean, atol=1e-7)
    (slope,) = torch.autograd.grad(smoothed(z, 0.3).sum(), z)
    assert torch.allclose(smoothed_and_slope(z, 0.3)[1], slope, atol=1e-12)
    assert torch.equal(smoothed(z, 0), truncated_relu(z))


def logistic(own, x, y):
    g = ((x @ own.rows.mT).clamp_min(0) @ own.a[..., None])[..., 0]
    return torch.nn.functional.softplus(-y * g).mean(1)


def weighted(noise):
    def alpha(y):
        return torch.where(y > 0, 0.7, 1.6).double()

    def loss(own, x, y):
        return (alpha(y) * (1 - y * output(own, x, noise)).clamp_min(0)).mean(1)

    return loss, lambda network, x, y: full_gradients(network, x, y, alpha(y), noise)


def hinge(own, x, y):
    return (1 - y * output(own, x)).clamp_min(0).mean(1)


@pytest.mark.parametrize(
    ("loss", "gradient"),
    [
        weighted(0.0),
        weighted(0.2),
        (hinge, train.batch_gradient),
        (logistic, train.logistic_gradient),
    ],
)
def test_gradients_are_those_of_autograd(loss, gradient):
    network, x, y, _ = problem()
    assert 0 < (y * output(network, x) <= 1).double().mean() < 1
    rows, a = network.rows.clone().requires_grad_(), network.a.clone().requires_grad_()
    loss(Network(rows, a), x, y).sum().backward()
    for exact, wanted in zip(gradient(network, x, y), (rows.grad, a.grad), strict=True):
        assert torch.allclose(exact, wanted, atol=1e-12)


def test_scores_and_steps_of_known_outputs_and_widths():
    y = torch.tensor([[1.0, -1, -1, -1], [1, 1, -1, -1]])
    outputs = torch.tensor([[-2.0, -1, -1, -1], [1, 0, -3, -1]])
    assert train.accuracy(outputs, y).tolist() == [0.75, 0.75]
    assert train.balanced(outputs, y).tolist() == [0.5, 0.75]
    rates = [
        train.Schedule.of(LAW, pairs, "partial_forget").first_rate * pairs for pairs in (50, 300)
    ]
    assert rates == [1500.0, 1500.0]


def test_neurons_that_no_sample_reaches_change_no_gradient():
    network, x, y, _ = problem()
    network.rows[0, 2, -1] = network.rows[1, 5, -1] = -100.0
    live = train.live_neurons(network, x)
    assert 2 not in live[0]
    assert 5 not in live[1]
    for own, wanted in zip(
        train.batch_gradient(network, x, y, live), train.batch_gradient(network, x, y), strict=True
    ):
        assert torch.allclose(own, wanted, atol=1e-15)


def test_gradients_of_one_direction_have_cosine_one_and_independent_ones_none():
    same = torch.arange(1.0, 31)[:, None, None, None] * torch.tensor([3.0, 4.0]).expand(2, 5, 2)
    assert all(
        torch.allclose(each, torch.ones(2, 5)) for each in train.stretch_cosines(same).values()
    )
    free = torch.randn(30, 2, 5, 20_000, generator=generator("independent"))
    found = train.stretch_cosines(free)
    for name, cosine in found.items():
        wanted = 3**-0.5 if name.endswith("mean") else 0.0
        assert (cosine - wanted).abs().max() < 0.03


def test_early_gradients_leave_the_network_alone_and_begin_with_its_own():
    network, x, y, _ = problem()
    before = network.rows.clone()
    order = train.batches(60, 20, 4, streams("order"))
    found = train.early_gradients(network, x, y, order, 0.1)
    assert torch.equal(network.rows, before)
    (index,) = train.batches(60, 20, 1, streams("order"))
    take = [torch.stack([own[at] for own, at in zip(each, index, strict=True)]) for each in (x, y)]
    assert torch.equal(found[0], train.batch_gradient(network, *take).rows[..., :-1])
    assert found.shape == (4, 2, 16, 12)


def test_at_the_rate_of_the_theory_weights_drift_no_further_than_the_lemmas_allow():
    """Lemmas A.18, A.19: |a_t - a_2| <= eta t, |w_t - w_2| <= eta^2 t^2 + eta t max |a_2|."""
    world = World.draw(LAW, streams("world"))
    seen = sample(world, 400, streams("data"))
    x, start = with_one(seen.phi), symmetric_start(8, 12, train.start_stds(LAW), streams("start"))
    schedule = train.Schedule.of(LAW, 8, "theory")
    _, second = train.two_steps(start, x, seen.y, torch.ones_like(seen.y), schedule)
    stage = train.theory_stage(LAW, 8, 30)
    assert stage["weight_rate"] == stage["head_rate"] == pytest.approx(9 / (30 * 2))

    def see(step, own):
        t = stage["head_rate"] * step
        assert (own.a - second.a).abs().max() <= t + 1e-6
        # inputs have a mean square norm of one, those of a batch a little more
        room = 1.2 * (t**2 + t * second.a.abs().max())
        assert (own.q - second.q).norm(dim=-1).max() <= room

    train.train_network(second, x, seen.y, train.batches(400, 50, 30, streams("order")), stage, see)


def test_the_taylor_model_is_the_derivative_of_the_network_at_its_start():
    """Half the neurons stand for all: partners change in opposite directions, heads alike."""
    law, pairs = LAW, 6
    _, x, y, _ = problem()
    start = symmetric_start(pairs, law.patterns, (0.5, 0.3, 0.5), streams("start"), torch.float64)
    model = train.Taylor.start(start, kernel=True)
    draw = generator("change")
    model.change = torch.randn(model.change.shape, generator=draw, dtype=torch.float64)
    model.head = torch.randn(model.head.shape, generator=draw, dtype=torch.float64)
    rows = torch.cat([model.change, -model.change], 1) / 2
    a = torch.cat([model.head, model.head], 1) / 2
    _, wanted = torch.func.jvp(
        lambda rows, a: output(Network(rows, a), x), (start.rows, start.a), (rows, a)
    )
    act = train.features(x, start.rows[:, :pairs])
    assert torch.allclose(model.output(x, act), wanted, atol=1e-12)
    model.change.requires_grad_()
    model.head.requires_grad_()
    (1 - y * model.output(x, act)).clamp_min(0).mean(1).sum().backward()
    with torch.no_grad():
        by_head, by_change = model.gradient(x, act, y)
    assert torch.allclose(by_head, model.head.grad, atol=1e-12)
    assert torch.allclose(by_change, model.change.grad, atol=1e-12)


def test_the_start_is_the_zero_function_and_stays_symmetric_after_one_step():
    """Section 7.4: w of partners is opposite, their biases move apart from the same place."""
    _, x, y, _ = problem()
    start = symmetric_start(8, 12, train.start_stds(LAW), streams("start"), torch.float64)
    assert output(start, x).abs().max() < 1e-12
    schedule = train.Schedule.of(LAW, 8, "theory")
    first, second = train.two_steps(start, x, y, torch.ones_like(y), schedule)
    assert torch.allclose(first.q[:, 8:], -first.q[:, :8], atol=1e-15)
    assert torch.allclose(first.b[:, 8:] + first.b[:, :8], 2 * start.b[:, :8], atol=1e-12)
    assert first.q.abs().max() > 0
    assert second.q.norm(dim=-1).median() > 10 * first.q.norm(dim=-1).median()


@pytest.mark.parametrize("preset", ["theory", "partial_forget"])
def test_reduced_coordinates_give_what_full_ones_do(preset):
    """Two steps and ten batches in R^30 and in the span of 12 patterns: outputs and cosines."""
    dimension, pairs, law = 30, 8, LAW
    world = World.draw(law, streams("world"))
    seen = sample(world, 400, streams("data"))
    columns = dictionary(law.patterns, dimension, generator("columns")).float()
    stds = train.start_stds(law)
    full = symmetric_start(pairs, dimension, stds, streams("start"))
    q = full.q @ columns
    rest = (full.q - q @ columns.T).norm(dim=-1).double()
    reduced = Network(torch.cat([q, full.b[..., None]], -1), full.a)
    direction = world.direction()
    ends = []
    for start, phi, along, kept in (
        (full, seen.phi @ columns.T, direction.float() @ columns.T, 0 * rest),
        (reduced, seen.phi, direction, rest),
    ):
        x, weight = with_one(phi), train.class_weights(law, seen.y)
        steps = train.two_steps(start, x, seen.y, weight, train.Schedule.of(law, pairs, preset))
        order = train.batches(400, 50, 10, streams("order"))
        end, _ = train.train_network(steps[1], x, seen.y, order, STAGE, lambda step, own: None)
        found = [cosines(own, along, kept) for own in (start, *steps, end)]
        ends.append((torch.stack(found), output(end, x)))
    for one, other in zip(*ends, strict=True):
        assert torch.allclose(one.double(), other.double(), atol=1e-5)


def test_weights_outside_the_patterns_shorten_cosines_as_in_the_whole_space():
    start = symmetric_start(5, 12, (0.2, 0.1, 1.0), streams("start"))
    rest = outside(5, 18, 0.2, streams("rest"))
    direction = World.draw(LAW, streams("world")).direction()
    found = cosines(Network(start.rows, start.a, 0.5), direction, rest.norm(dim=-1))
    whole = directions(Network(start.rows, start.a, 0.5), rest)
    assert torch.allclose(found, (whole[..., :12] * direction[:, None]).sum(-1), atol=1e-6)
    assert torch.allclose(whole.norm(dim=-1), torch.ones(2, 10, dtype=torch.float64))


def enumerated(law):
    """All hidden vectors of a law of independent fair coins outside A, with their probabilities."""
    world = World(law, torch.arange(law.relevant)[None])
    bits = torch.tensor(list(itertools.product((0, 1), repeat=law.patterns)))
    counts = bits[:, : law.relevant].sum(1)
    same = torch.bincount(counts) // 2 ** (law.patterns - law.relevant)
    joint = law.count_law().sum(0)[counts] / same[counts] / 2 ** (law.patterns - law.relevant)
    phi = (bits - world.mean()) / world.scale()[:, None]
    return with_one(phi)[None], law.label(counts).double()[None], joint[None]


@pytest.mark.parametrize(
    "law", [Law("parity", 7, 5), Law("interval", 8, 5, interval=(3, 4))], ids=["parity", "interval"]
)
def test_the_first_gradient_of_a_small_weight_points_along_the_relevant_patterns(law):
    """Lemma A.9 in its limit: T_j = beta gamma / scale on A, none elsewhere, T_b = 0; exactly."""
    x, y, chance = enumerated(law)
    assert chance.sum().item() == pytest.approx(1)
    bias = torch.tensor([[0.05, -0.02, 0.5]], dtype=torch.float64)
    rows = torch.zeros(1, 3, law.patterns + 1, dtype=torch.float64)
    rows[..., -1] = bias
    a = torch.tensor([[1.0, -2.0, 0.5]], dtype=torch.float64)
    network = Network(rows, a * 1e-9)  # g is nearly zero, as at a symmetric start
    weight = train.class_weights(law, y) * chance * x.shape[1]
    by_rows, _ = full_gradients(network, x, y, weight, 0.1)
    t = -by_rows / network.a[..., None]
    linear = torch.special.ndtr(bias / 0.1) - torch.special.ndtr((bias - 1) / 0.1)
    wanted = linear * law.weighted_gamma / law.scale
    k = law.relevant
    assert torch.allclose(t[..., :k], wanted[..., None].expand(1, 3, k), atol=1e-12)
    assert t[..., k:].abs().max() < 1e-12


def test_after_two_steps_every_neuron_is_as_close_as_sampling_noise_allows():
    law = Law("parity", 40, 5)
    world = World.draw(law, streams("world"))
    seen = sample(world, 8000, streams("data"))
    start = symmetric_start(20, 40, train.start_stds(law), streams("start"))
    x = with_one(seen.phi)
    first, second = train.two_steps(
        start, x, seen.y, train.class_weights(law, seen.y), train.Schedule.of(law, 20, "theory")
    )
    # Lemma A.13: the first step turns weights, and every sample still counts in the hinge loss
    assert cosines(first, world.direction(), torch.zeros(2, 40)).abs().max() > 0.9
    assert (seen.y * output(first, x) < 1).all()
    # and so it does at the lemma's rate gamma / (k m sigma_a) and at ten times that, not at 1,000
    own = law.weighted_gamma / (5 * 20 * train.start_stds(law)[2])
    for factor, share in ((1, 1.0), (10, 1.0), (1000, 0.45)):
        schedule = replace(train.Schedule.of(law, 20, "theory"), first_rate=factor * own)
        far, _ = train.two_steps(start, x, seen.y, train.class_weights(law, seen.y), schedule)
        assert (seen.y * output(far, x) < 1).double().mean().item() == pytest.approx(
            share, abs=0.02
        )
    # sampling noise of variance p (1 - p) / n along each other pattern, against gamma along these
    p, found = (
        law.irrelevant_frequency,
        cosines(second, world.direction(), torch.zeros(2, 40)).abs(),
    )
    noise = (40 - 5) * p * (1 - p) / 8000 / (5 * law.weighted_gamma**2)
    assert (1 - found).mean().item() == pytest.approx(1 - (1 + noise) ** -0.5, rel=0.35)


def test_rescaled_weights_have_directions_of_one_step_and_lengths_and_biases_of_two():
    _, x, y, _ = problem()
    start = symmetric_start(8, 12, train.start_stds(LAW), streams("start"), torch.float64)
    first, second = train.two_steps(
        start, x, y, torch.ones_like(y), train.Schedule.of(LAW, 8, "theory")
    )
    found = train.rescaled(first, second)
    assert torch.allclose(found.q.norm(dim=-1), second.q.norm(dim=-1))
    assert torch.cosine_similarity(found.q, first.q, dim=-1).min() > 1 - 1e-9
    assert torch.equal(found.b, second.b)


def test_adam_of_a_training_is_that_of_pytorch():
    _, x, y, _ = problem()
    start = symmetric_start(8, 12, (1.0, 1.0, 1.0), streams("start"), torch.float64)
    stage = {"weight_rate": 0.01, "head_rate": 0.03, "adam": True}
    order = [torch.arange(20).expand(len(x), 20)] * 3
    found, _ = train.train_network(start, x, y, iter(order), stage, lambda step, own: None)
    rows, a = (part.clone().requires_grad_() for part in (start.rows, start.a))
    other = torch.optim.Adam([{"params": [rows], "lr": 0.01}, {"params": [a], "lr": 0.03}])
    for at in order:
        other.zero_grad()
        hinge(Network(rows, a), x[:, at[0]], y[:, at[0]]).sum().backward()
        other.step()
    torch.testing.assert_close(found.rows, rows.detach())
    torch.testing.assert_close(found.a, a.detach())
