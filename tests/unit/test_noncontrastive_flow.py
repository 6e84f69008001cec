"""The integrator, the flow of the population objective, and Algorithm 1."""

import math

import pytest
import torch

from featlearn.core.seeds import Streams
from featlearn.noncontrastive import closed_forms as forms
from featlearn.noncontrastive import flow, integrate, train
from featlearn.noncontrastive.data import PatchData, sample, views
from featlearn.noncontrastive.model import encode
from featlearn.noncontrastive.population import Law, State, descent, state_of

SPEC = PatchData(30, 8, 4, (3.0, 2.0))
LAW = Law.of(SPEC)


def test_a_stiff_linear_system_follows_its_solution():
    def decay(y, which):
        rates = torch.tensor([1.0, 1e4], dtype=torch.float64)
        return -rates * y + rates * torch.stack([y[:, 1] * 0 + 1, y[:, 0]], 1)

    times = torch.tensor([0.0, 0.1, 1.0, 3.0], dtype=torch.float64)
    y = torch.zeros(1, 2, dtype=torch.float64)
    found = integrate.integrate(decay, y, times.expand(1, -1), rtol=1e-7, atol=1e-9).states
    wanted = 1 - torch.exp(-times)
    assert (found[0, :, 0] - wanted).abs().max() < 1e-5
    assert found[0, 0].tolist() == [0, 0]


def test_levels_are_timed_and_end_a_system():
    def field(y, which):
        return torch.stack([y[:, 0], 0 * y[:, 1]], 1)

    y = torch.tensor([[1.0, 0.0], [0.5, 0.0]], dtype=torch.float64)
    times = torch.linspace(0, 5, 11, dtype=torch.float64).expand(2, -1)
    path = integrate.integrate(
        field, y, times, watch=lambda y, _: y - 2, until=lambda y, _: y[:, 0] > 10, rtol=1e-8
    )
    assert path.hits[:, 0].tolist() == pytest.approx([math.log(2), math.log(4)], rel=1e-6)
    assert path.hits[:, 1].isinf().all()
    assert path.at_hits[:, 0, 0].tolist() == pytest.approx([2, 2], rel=1e-6)
    assert (path.stopped < 5).all()
    assert (path.states[:, -1, 0] > 10).all()
    assert path.states[0, 2, 0].item() == pytest.approx(math.e, rel=1e-6)


def test_what_waits_long_may_move_fast():
    """``y' = y**5 (1 - y**2)`` stays near 1e-4 for 2.5e15 units and is done within a few."""
    start = torch.tensor([[1e-4], [0.5]], dtype=torch.float64)
    end = torch.tensor([[1e16], [1e16]], dtype=torch.float64)
    path = integrate.integrate(
        lambda y, _: y**5 * (1 - y**2), start, end, watch=lambda y, _: y - 0.9
    )
    torch.testing.assert_close(path.states[:, 0], torch.ones_like(start))
    assert path.hits[0, 0].item() == pytest.approx(2.5e15, rel=1e-3)


def test_fields_and_batches_without_numbers_are_errors():
    start = torch.tensor([[1.0]], dtype=torch.float64)
    times = torch.tensor([[2.0]], dtype=torch.float64)
    with pytest.raises(ArithmeticError, match="shrank to nothing"):
        integrate.integrate(lambda y, _: torch.where(y.real < 1.5, y, torch.nan), start, times)
    with pytest.raises(ArithmeticError, match="overflow"):
        run({"raw": train.Variant(1.0, 1.0, "none")}, steps=30)


def test_the_method_has_order_four():
    def field(y, which):
        return torch.stack([-y[:, 0] * y[:, 1], y[:, 0] * y[:, 1] - y[:, 1] ** 2], 1)

    def end(steps):
        y = torch.tensor([[1.0, 0.5]], dtype=torch.float64)
        h = torch.tensor([2.0 / steps], dtype=torch.float64)
        for _ in range(steps):
            which = torch.tensor([0])
            y, _ = integrate._step(field, y, field(y, which), h, which)
        return y

    truth = end(320)
    errors = [(end(n) - truth).abs().max().item() for n in (10, 40)]
    assert math.log(errors[0] / errors[1], 4) > 3.7


def test_the_jacobian_is_that_of_automatic_differentiation():
    start, kappa = random_starts(3)
    layout = flow.Layout(2)
    y = layout.pack(start)

    def field(y, which):
        return layout.pack(flow.velocity(layout.unpack(y), LAW, kappa[which]))

    found = integrate.jacobian(field, y, torch.arange(3))
    wanted = torch.autograd.functional.jacobian(lambda v: field(v, torch.arange(3)).sum(0), y)
    torch.testing.assert_close(found, wanted.transpose(0, 1))


def random_starts(count, neurons=2, dimension=30, seed=0):
    stream = torch.Generator().manual_seed(seed)
    w = torch.randn(count, neurons, dimension, generator=stream, dtype=torch.float64)
    e = torch.zeros(count, neurons, neurons, dtype=torch.float64)
    return state_of(w / dimension**0.5, e), torch.full((count,), 0.1, dtype=torch.float64)


def test_the_flow_conserves_what_it_must():
    start, kappa = random_starts(3)
    times = torch.logspace(-2, 3, 20, dtype=torch.float64)
    path = flow.trajectory(start, LAW, kappa, times, rtol=1e-5).states
    square = path.e.square()
    exchange = square.sum(-1) - square.sum(-2)
    held = path.square_norm + 3 / kappa[:, None, None] * exchange
    assert (held - held[:, :1]).abs().max() < 1e-4
    alone = flow.trajectory(start, LAW, 0 * kappa, times, head=False, rtol=1e-5).states
    assert (alone.square_norm - start.square_norm.unsqueeze(1)).abs().max() < 1e-4


def test_without_a_head_each_neuron_ends_where_the_rule_says():
    start, kappa = random_starts(20, neurons=2)
    end = torch.tensor([1e7], dtype=torch.float64)
    path = flow.trajectory(start, LAW, kappa, end, head=False, rtol=1e-4, atol=1e-9)
    end = path.states.b[:, -1].abs()
    # conserved: alpha_2^6 B_1^-4 - alpha_1^6 B_2^-4, so that alpha_l^6 B_l^4 decides
    power = LAW.both * start.b**4
    strong = power[..., 0] > power[..., 1]
    assert torch.equal(end[..., 0] > end[..., 1], strong)
    torch.testing.assert_close(end.square().sum(-1), start.square_norm, rtol=2e-3, atol=2e-3)


def test_the_sums_of_the_end_phase_are_what_noise_and_head_lose():
    """Lemmas E.5 and E.6: the integrals telescope, up to what the other neuron adds."""
    b = torch.tensor([[[1.0, 0.01], [0.01, 0.9]]], dtype=torch.float64)
    g = torch.diag_embed(torch.tensor([[0.05, 0.1]], dtype=torch.float64))
    e = torch.tensor([[[0.0, 0.0], [0.1, 0.0]]], dtype=torch.float64)
    kappa = torch.tensor([0.1], dtype=torch.float64)
    law = Law.of(PatchData(100, 16, 4, (2.0, 1.0)))
    times = torch.cat([torch.zeros(1), torch.logspace(-3, 4, 3000)]).double()
    path = flow.trajectory(State(b, g, e), law, kappa, times, rtol=1e-7).states
    named = forms.terms(path, Law(*(part[None] for part in vars(law).values())), 6)
    lost = named.sigma.sum(-1) * path.residual**3
    noise = torch.trapezoid(90 * lost[0], times, dim=0)
    torch.testing.assert_close(noise, path.residual[0, 0] - path.residual[0, -1], rtol=0.05, atol=0)
    back = torch.trapezoid((named.xi[..., 1] * path.e[..., 1, 0])[0], times)
    assert float(kappa[0] * back) == pytest.approx(0.1, rel=0.05)
    assert float(kappa[0] * back) < float(forms.largest_head(path[:, 0], kappa))  # E.6's order


def test_random_neurons_are_as_lemma_b1_says():
    """At d = 1000, d = 100,000; (c) alone may fail, with the chance of Fact B.2."""
    for dimension in (1e3, 1e5):
        stream = torch.Generator().manual_seed(5)
        count, tail = 4000, math.log(dimension)
        b = torch.randn(count, 2, 2, generator=stream, dtype=torch.float64) / dimension**0.5
        b = b.gather(1, b[..., 0].abs().argsort(1, descending=True)[..., None].expand_as(b))
        rest = torch.randn(count, 3, generator=stream, dtype=torch.float64) / dimension**0.5
        r = 1 + 2**0.5 * rest[:, :2]  # |Pi w_j|^2, and the products of two neurons
        g = torch.diag_embed(r)
        g[:, 0, 1] = g[:, 1, 0] = rest[:, 2]
        state = State(b, g, torch.zeros(count, 2, 2, dtype=torch.float64))
        assert ((state.square_norm - 1).abs() < 6 * (tail / dimension) ** 0.5).all()
        assert (b.abs() < 3 * (tail / dimension) ** 0.5).all()
        failed = (b[:, 0, 0].abs() < (1 + 1 / tail) * b[:, 1, 0].abs()).double().mean()
        wanted = 4 / math.pi * math.atan(1 + 1 / tail) - 1
        assert float(failed) == pytest.approx(wanted, abs=4 * (wanted / count) ** 0.5)
        law = Law.of(PatchData(1000, 16, 4, (2.0, 1.0)))
        named = forms.terms(state, law, 6)
        size = 15 * state.square_norm**3
        # (d), for Gaussian neurons; (e) and (g) follow, as the features' part is d^-3
        assert ((named.noise / size - 1).abs() < 40 * tail / dimension).all()
        feature = law.square[0] * (3 * (tail / dimension) ** 0.5) ** 6
        assert (named.h / (6 * named.noise[..., None]) - 1 < 2 * feature / 90).all()
        assert (named.cross.abs() < feature).all()  # (h): alpha_1^6 / d^3 up to logarithms


def test_a_trajectory_is_the_same_alone_and_in_company():
    start, kappa = random_starts(5)
    times = torch.logspace(-1, 2, 10, dtype=torch.float64)
    together = flow.trajectory(start, LAW, kappa, times).states
    one = start[3:4]
    alone = flow.trajectory(one, LAW, kappa[3:4], times).states
    torch.testing.assert_close(together.b[3], alone.b[0], rtol=1e-9, atol=1e-11)


def test_the_canonical_start():
    start = flow.canonical_start(400)
    assert start.square_norm.tolist() == pytest.approx([1, 1])
    drawn = train.canonical_neurons(
        400, Streams(0, "noncontrastive", "t", range(2))("neurons"), torch.float64
    )
    seen = state_of(drawn, torch.zeros(2, 2, 2, dtype=torch.float64))
    torch.testing.assert_close(seen.b[0], start.b)
    torch.testing.assert_close(seen.g[1], start.g, rtol=0, atol=1e-12)


VARIANTS = {
    "head": train.Variant(0.05, 0.05),
    "none": train.Variant(0.05, 0.0),
    "live-target": train.Variant(0.05, 0.05, stop_gradient=False),
    "l2": train.Variant(0.05, 0.05, "l2"),
    "raw": train.Variant(1e-5, 1e-5, "none"),
    "symmetric": train.Variant(0.05, 0.05, symmetric=True),
}


def run(variants, replicates=2, steps=5, samples=64):
    streams = Streams(0, "noncontrastive", "train-test", range(replicates))
    start = train.canonical_neurons(SPEC.dimension, streams("neurons"), torch.float64)
    options = {"samples": samples, "steps": steps, "record_every": steps}
    return list(train.train(SPEC, variants, start, streams, **options))


def test_variants_and_replicates_do_not_touch_each_other():
    together = run(VARIANTS)[-1].state
    alone = run({"none": VARIANTS["none"]}, replicates=1)[-1].state
    place = list(VARIANTS).index("none")
    torch.testing.assert_close(together.b[place, 0], alone.b[0, 0], rtol=1e-12, atol=1e-14)
    assert together.e[place].abs().max() == 0
    assert together.e[0].abs().max() > 0
    assert len({tuple(own[0].flatten().tolist()) for own in together.b}) == len(VARIANTS)


def test_the_gradient_of_a_batch_is_that_of_automatic_differentiation():
    spec = PatchData(dimension=9, patches=8, feature_patches=2, strengths=(3.0, 2.0))
    variants = [
        train.Variant(0.1, 0.1),
        train.Variant(0.1, 0.1, stop_gradient=False),
        train.Variant(0.1, 0.1, "l2", symmetric=True),
        train.Variant(0.1, 0.1, "none"),
    ]
    streams = Streams(0, "noncontrastive", "batch-gradient", range(2))
    x = sample(spec, 16, streams("samples"), torch.float64).x
    first = views(spec.patches, 16, streams("views"), torch.float64)
    w = torch.stack([torch.randn(4, 2, 9, generator=s).double() for s in streams("w")], 1)
    e = 0.3 * torch.stack([torch.randn(4, 2, 2, generator=s).double() for s in streams("e")], 1)
    ours = train.gradients(variants, x, first, w, e)
    w, e = w.requires_grad_(), e.requires_grad_()
    both = [x * kept.unsqueeze(-1) for kept in (first, 1 - first)]
    losses = torch.stack(
        [
            variant.objective(*(encode(view, neurons) for view in both), head)
            for variant, neurons, head in zip(variants, w, e, strict=True)
        ]
    )
    theirs = (losses.detach(), *torch.autograd.grad(losses.sum(), (w, e)))
    for own, wanted in zip(ours, theirs, strict=True):
        torch.testing.assert_close(own, wanted, rtol=1e-9, atol=1e-12)


def test_a_step_descends_the_population_objective_on_average():
    snapshots = run({"head": train.Variant(1e-3, 5e-4)}, replicates=4, steps=1, samples=30000)
    before, after = snapshots[0].state, snapshots[-1].state
    moved = (after.b - before.b)[0].mean(0) / 1e-3
    wanted = descent(flow.canonical_start(SPEC.dimension), LAW)
    torch.testing.assert_close(moved, wanted.b, rtol=0.1, atol=2e-3)
