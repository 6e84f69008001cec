"""Chapter 8: loops against gradient descent, closed forms against runs, ablations that break it."""

import math

import numpy as np
import pandas as pd
import pytest
import torch

from featlearn.core.plots import save
from featlearn.core.seeds import Streams
from featlearn.looped import closed_forms, data, model
from featlearn.looped.analysis import construction as figures
from featlearn.looped.data import DTYPE, Prompts
from featlearn.looped.experiments import construction as experiment

STREAMS = Streams(0, "looped", "test", range(20))
PROMPTS = data.draw(12, 4, STREAMS("prompts"))
SPECTRUM = data.spectrum(PROMPTS)
LOOPS = 12


def started(prompts=PROMPTS):
    random = torch.Generator().manual_seed(1)
    return prompts._replace(q=torch.randn(prompts.q.shape, generator=random, dtype=DTYPE))


def steps(ratio=1.0, count=LOOPS):
    return (ratio / SPECTRUM.smoothness).expand(count, -1)


def last(iterator):
    *_, one = iterator
    return one


def test_a_layer_is_the_block_of_lemma_8_13_and_descends_the_gradient():
    prompts = started()
    x, y, q, alpha = prompts.x, prompts.y, prompts.q, prompts.alpha
    found = model.attention(prompts.tokens, model.construction(12, 4))
    wanted = (q[:, None] @ x.mT @ x).squeeze(1) + alpha[:, None] * (y[:, None] @ x).squeeze(1)
    torch.testing.assert_close(found[:, -1, :-1], wanted)
    assert not found[:, :-1].any()
    assert not found[:, -1, -1].any()
    prompts, step = started(), steps()[:1]
    theta = (-prompts.q / prompts.alpha[:, None]).requires_grad_()
    residual = prompts.y - (prompts.x @ theta[..., None]).squeeze(-1)
    (residual.square().sum() / 2).backward()
    found = last(model.descent(prompts, step))
    torch.testing.assert_close(found, theta.detach() - step[0][:, None] * theta.grad)


def test_loops_are_descent_from_any_start_with_any_steps():
    prompts = started()
    random = torch.rand(LOOPS, 20, generator=torch.Generator().manual_seed(2), dtype=DTYPE)
    taken = 2.5 * random / SPECTRUM.smoothness
    looped = model.loops(prompts.tokens, model.construction(12, 4), taken)
    for z, theta in zip(looped, model.descent(prompts, taken), strict=True):
        torch.testing.assert_close(
            model.output(z), prompts.alpha[:, None] * theta, rtol=1e-12, atol=1e-12
        )
        torch.testing.assert_close(z[:, :-1], prompts.tokens[:, :-1], rtol=0, atol=0)
        torch.testing.assert_close(z[:, -1, -1], prompts.alpha, rtol=0, atol=0)


@pytest.mark.parametrize("arm", [name for name in model.ablations(12, 4) if name != "construction"])
def test_without_a_part_it_is_not(arm):
    looped = model.loops(PROMPTS.tokens, model.ablations(12, 4)[arm], steps())
    off = (model.output(last(looped)) / PROMPTS.alpha[:, None] - last(
        model.descent(PROMPTS, steps())
    )).norm(dim=1)  # fmt: skip
    assert off.median() > 0.05


def test_the_hand_oracle_of_two_features():
    """Worked by hand: X = [[1, 0], [0, 2], [1, 1]], theta* = (.6, .8), alpha = 2."""
    prompts = Prompts(
        torch.tensor([[[1, 0], [0, 2], [1, 1]]], dtype=DTYPE),
        torch.tensor([[0.6, 0.8]], dtype=DTYPE), torch.tensor([2.0], dtype=DTYPE),
        torch.zeros(1, 2, dtype=DTYPE),
    )  # fmt: skip
    of = data.spectrum(prompts)
    assert of.kappa.item() == pytest.approx(3.124381051569)
    z = last(
        model.loops(prompts.tokens, model.construction(3, 2), (1 / of.smoothness).expand(4, 1))
    )
    assert model.output(z)[0].tolist() == pytest.approx([1.0599037445, 1.6424177331])
    missed = abs(model.output(z)[0] @ prompts.theta[0] - 2).item()
    assert missed == pytest.approx(0.0501235668)
    log = closed_forms.log_error(of, 1 / of.smoothness, torch.tensor([4.0], dtype=DTYPE), power=1)
    assert 2 * log.exp().item() == pytest.approx(missed)
    assert missed <= 1.0544511502


@pytest.mark.parametrize("ratio", [0.5, 1.0, 1.7])
def test_exact_errors_are_those_of_a_run(ratio):
    prompts = started()
    of = data.spectrum(prompts)
    times = torch.arange(1, LOOPS + 1, dtype=DTYPE)
    exact = closed_forms.log_error(of, ratio / of.smoothness, times).exp()
    run = [
        (theta - prompts.theta).square().sum(1) for theta in model.descent(prompts, steps(ratio))
    ]
    torch.testing.assert_close(torch.stack(run, 1), exact)


def test_both_theorems_hold_of_a_run_and_the_sharp_exponent_is_reached():
    kappa, step = SPECTRUM.kappa, 1 / SPECTRUM.smoothness
    assert all(held.all() for held in experiment.within_bounds(PROMPTS, kappa, step, LOOPS))
    parameter, _ = experiment.within_bounds(PROMPTS, kappa / 8, step, LOOPS)
    assert not parameter.any()
    of = SPECTRUM._replace(c=torch.tensor([1.0, 0, 0, 0], dtype=DTYPE).expand(20, 4))
    times = torch.arange(1, 30, dtype=DTYPE)
    log = closed_forms.log_error(of, 1 / of.smoothness, times)
    torch.testing.assert_close(log, 2 * times * torch.log1p(-1 / of.kappa)[:, None])


def test_one_loop_solves_the_task_with_a_single_example():
    prompts = data.draw(1, 4, STREAMS("one"))
    (z,) = model.loops(prompts.tokens, model.construction(1, 4), [1 / prompts.y.square().sum(-1)])
    tf = model.output(z)
    torch.testing.assert_close((tf * prompts.theta).sum(1), prompts.alpha)
    assert (tf / prompts.alpha[:, None] - prompts.theta).norm(dim=1).median() > 0.5


def explicit_conjugate_gradients(h, b, count):
    theta, residual = torch.zeros_like(b), b.clone()
    direction = residual.clone()
    for _ in range(count):
        step = residual @ residual / (direction @ h @ direction)
        theta, before = theta + step * direction, residual @ residual
        residual = residual - step * h @ direction
        direction = residual + residual @ residual / before * direction
    return theta


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_conjugate_gradients_are_their_polynomial(count):
    p = closed_forms.conjugate_gradients(SPECTRUM, count)
    predicted = (SPECTRUM.c * p.square()).sum(1)
    for one in range(3):
        h = PROMPTS.hessian[one]
        theta = explicit_conjugate_gradients(h, h @ PROMPTS.theta[one], count)
        error = (theta - PROMPTS.theta[one]).square().sum()
        torch.testing.assert_close(error, predicted[one], atol=1e-10, rtol=1e-6)


def test_chebyshev_steps_have_the_least_largest_residual():
    low, high = SPECTRUM.convexity, SPECTRUM.smoothness
    taken = closed_forms.chebyshev_steps(low, high, 3)
    at = low[:, None] + (high - low)[:, None] * torch.linspace(0, 1, 201, dtype=DTYPE)
    of = data.Spectrum(at, torch.ones_like(at))
    largest = closed_forms.residual(of, taken).abs().amax(1)
    arg = (high + low) / (high - low)
    torch.testing.assert_close(largest, 1 / torch.cosh(3 * torch.acosh(arg)))
    constant = closed_forms.residual(of, [2 / (high + low)] * 3).abs().amax(1)
    assert (largest < constant).all()


@pytest.mark.parametrize("loss", ["parameter", "prediction"])
def test_best_shared_steps_are_the_optimum(loss):
    """Over many theta*, no other polynomial with p(0) = 1 is better; steps of theta* are real."""
    w = data.spectrum(data.draw(12, 4, STREAMS("law")[:1], 60)).w.flatten(0, -2)
    found = closed_forms.best_fixed(w, 3, loss)
    random = torch.randn(3000, len(w), 4, generator=torch.Generator().manual_seed(0))
    theta = (random / random.norm(dim=-1, keepdim=True)).double()

    def error(roots):
        p = closed_forms.Fixed(0.0, roots).residual(w)
        square = theta.square() * p**2 if loss == "parameter" else theta.square() * p
        return (square.sum(-1) if loss == "parameter" else square.sum(-1).square()).mean().item()

    assert error(found.roots) == pytest.approx(found.error, rel=0.03)
    for place in range(3):
        for factor in (0.9, 1.1):
            moved = found.roots.copy()
            moved[place] *= factor
            assert error(moved) > error(found.roots)
    if loss == "parameter":
        assert np.isreal(found.roots).all()


def test_prompts_are_as_defined():
    torch.testing.assert_close(PROMPTS.theta.norm(dim=1), torch.ones(20, dtype=DTYPE))
    assert PROMPTS.tokens.shape == (20, 13, 5)
    assert not PROMPTS.tokens[:, -1, :-1].any()
    assert PROMPTS.alpha.abs().min() >= 0.5
    assert PROMPTS.alpha.min() < 0 < PROMPTS.alpha.max()
    fewer = data.draw(12, 4, Streams(0, "looped", "test", range(3))("prompts"))
    torch.testing.assert_close(fewer.x, PROMPTS.x[:3], rtol=0, atol=0)


def test_condition_numbers_are_those_of_gaussian_prompts_and_come_up_to_their_limit():
    """Bartlett against the matrices themselves, two samples by their quantiles."""
    random = np.random.default_rng(0)
    drawn = data.condition_numbers(12, 4, 4000, random)
    direct = data.spectrum(data.draw(12, 4, STREAMS("direct")[:1], 4000)).kappa[0].numpy()
    shares = (0.1, 0.5, 0.9)
    assert np.quantile(drawn, shares) == pytest.approx(np.quantile(direct, shares), rel=0.06)
    assert closed_forms.edge_limit(4) == pytest.approx(9)
    below = [closed_forms.expected_kappa(4 * d, d) for d in (16, 64, 256, 10**6)]
    assert sorted(below) == below
    assert below[-1] == pytest.approx(9, rel=1e-3)
    drawn = data.condition_numbers(256, 64, 40, np.random.default_rng(1))
    assert drawn.mean() == pytest.approx(below[1], rel=0.03)


def test_a_prompt_that_diverges_has_a_place_in_the_figure(tmp_path):
    """Without the mask the loops of some prompts overflow: base seed 1 has one of 200."""
    values = [0.0, 1e-16, 0.5, 1e264, math.inf]
    frame = pd.DataFrame({"arm": "no mask", "deviation": values, "replicate": range(5)})
    save(figures.ablations(frame), tmp_path / "drawn.svg", tmp_path / "drawn.png")
    assert (tmp_path / "drawn.png").stat().st_size > 0
