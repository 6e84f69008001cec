"""Chapter 8: the construction and its closed forms, and what is learned through the loops."""

import math
from math import comb

import numpy as np
import pandas as pd
import pytest
import torch

from featlearn.core.drawing.plots import save
from featlearn.core.run.progress import Progress
from featlearn.core.seeds import Streams
from featlearn.looped import closed_forms, data, learned, model
from featlearn.looped.analysis import construction as figures
from featlearn.looped.analysis.learned import Learned
from featlearn.looped.data import DTYPE
from featlearn.looped.experiments import construction
from featlearn.looped.experiments import learned as experiment
from featlearn.looped.learned import ARMS, Looped

STREAMS = Streams(0, "looped", "learned-test", range(2))
SETS = {part: data.draw(12, 3, STREAMS(part), 300) for part in ("train", "validation", "test")}


def progress(count):
    return Progress("test", count)


def start(arm, loops=3, starts=2, scale=0.2):
    return learned.begin(arm, STREAMS("start"), starts, 3, loops, scale)


def test_the_short_form_is_the_looped_transformer():
    """Of any weights, those of the construction among them, under the printed mask."""
    own = start(ARMS["all"], scale=1.0)
    weights = Looped(*(part[0] for part in own))
    prompts = SETS["test"]
    found = weights(learned.Seen.of(prompts).gram)
    for replicate in range(2):
        layer = model.construction(12, 3)._replace(q=weights.q[replicate], p=weights.p[replicate])
        taken = [step.expand(300) / 12 for step in weights.steps[replicate]]
        *_, z = model.loops(prompts.tokens[replicate], layer, taken)
        wanted = model.output(z) / prompts.alpha[replicate][:, None]
        torch.testing.assert_close(found[replicate], wanted)


@pytest.mark.parametrize("name", ARMS)
def test_slopes_are_those_of_the_loss(name):
    """By going back through the loops, against autograd of the whole."""
    arm, own, prompts = ARMS[name], start(ARMS["all"]), SETS["test"]
    given = (learned.Seen.of(prompts).gram, prompts.theta)
    flat = learned.packed(own).requires_grad_()
    r = learned.residuals(learned.unpacked(flat, 4), *given, arm.loss)
    loss = r.square().sum(-1).mean(-1)
    torch.testing.assert_close(loss, learned.errors(own(given[0]), given[1])[arm.loss])
    (wanted,) = torch.autograd.grad(loss.sum(), flat)
    slopes = learned.jacobian(own, *given, arm) @ r.detach().mT.flatten(-2)[..., None]
    found = 2 / r.shape[-2] * slopes.squeeze(-1)
    torch.testing.assert_close(found, wanted[..., 0 if arm.weights else 32 :])
    # and residual by residual, not in the sum alone
    one = learned.unpacked(flat.detach()[0, 0], 4)
    own_slopes = learned.jacobian(own, *given, arm)[0, 0].unflatten(-1, (-1, 300))[..., 7]

    def of(every):
        model = learned.unpacked(every, 4)
        return learned.residuals(model, given[0][0, 7:8], given[1][0, 7:8], arm.loss)[0]

    whole = torch.func.jacrev(of)(learned.packed(one)).mT
    torch.testing.assert_close(own_slopes, whole[0 if arm.weights else 32 :])


@pytest.mark.parametrize("loss", ["parameter", "prediction"])
def test_fitted_steps_are_the_best_that_prompts_share(loss):
    arm = learned.Arm(False, loss)
    fitted = learned.fit(arm, start(arm), learned.Seen.of(SETS["train"]), 30, progress(30))
    of = data.spectrum(SETS["train"])
    assert (fitted.model.q == torch.eye(4, dtype=DTYPE)).all()
    for replicate in range(2):
        # the optimum for a uniform theta*, against that of the training's own prompts
        best = closed_forms.best_fixed(of.w[replicate], 3, loss)
        seen = experiment.residual_errors(of, best.residual(of.w))[loss][replicate]
        assert (fitted.loss[:, replicate] <= seen * 1.001).all()
        assert (fitted.loss[:, replicate] > 0.7 * best.error).all()


def test_a_fit_in_which_no_step_helps_stays_where_it_is(monkeypatch):
    """And computes no equations of those that did not move: at an optimum in the end of none."""
    arm, seen, asked = learned.Arm(False, "parameter"), learned.Seen.of(SETS["train"]), []
    best = learned.fit(arm, start(arm), seen, 60, progress(60))
    equations = learned.normal_equations

    def counted(model, *given):
        asked.append(model.q.shape[1])
        return equations(model, *given)

    monkeypatch.setattr(learned, "normal_equations", counted)
    again = learned.fit(arm, best.model, seen, 60, progress(60))
    assert (asked[0], min(asked)) == (2, 0)
    torch.testing.assert_close(again.loss, best.loss, rtol=1e-9, atol=0)
    torch.testing.assert_close(again.model.steps, best.model.steps, rtol=1e-3, atol=0)


def test_on_the_task_attention_by_labels_is_found():
    """Its optimum is 1 / binomial(T + n / 2, T), which no shared steps of descent reach."""
    arm = ARMS["all, as printed"]
    fitted = learned.fit(arm, start(arm, loops=2), learned.Seen.of(SETS["train"]), 40, progress(40))
    picked = learned.chosen(fitted, arm, learned.Seen.of(SETS["validation"]))
    found = learned.errors(picked(learned.Seen.of(SETS["test"]).gram), SETS["test"].theta)
    best = closed_forms.best_fixed(data.spectrum(SETS["train"]).w.flatten(0, -2), 2, "prediction")
    assert (found["prediction"] < 0.97 * best.error).all()
    assert (found["prediction"] > 0.8 / comb(2 + 6, 2)).all()
    # X^T y A X^T y = 0 for every antisymmetric A, which therefore is free
    even = picked.q + picked.q.mT
    for q in even:
        assert q[:-1, :-1].abs().max() < 0.5 * q[-1, -1].abs()


def test_attention_by_labels_leaves_a_product_of_label_norms():
    """Q = diag(0, 1), P = I: 1 - <TF, theta*> / alpha = prod(1 - eta |y|^2)."""
    q = torch.zeros(4, 4, dtype=DTYPE)
    q[-1, -1] = 1
    steps = torch.tensor([0.3, 0.7, 1.1], dtype=DTYPE)
    layer = Looped(q, torch.eye(4, dtype=DTYPE), steps)
    prompts = SETS["test"]
    found = (layer(learned.Seen.of(prompts).gram) * prompts.theta).sum(-1)
    norms = prompts.y.square().sum(-1, keepdim=True) / 12
    torch.testing.assert_close(1 - found, (1 - steps * norms).prod(-1))


def test_solvers_are_ordered_as_theory_has_them():
    law = data.spectrum(data.draw(12, 3, STREAMS("law")[:1], 2000))
    found = experiment.solvers(SETS, law, 2)
    value = {name: by_loss["parameter"] for name, by_loss in found.items()}
    assert (value["nothing"] == 1).all()
    assert (value["best shared steps"] < value["constant step"]).all()
    assert (value["Chebyshev"] < value["best own step"]).all()
    assert (value["conjugate gradients"] < value["Chebyshev"]).all()
    assert (value["least squares"] < 1e-20).all()
    assert (found["one loop"]["prediction"] < 1e-25).all()
    assert (experiment.solvers(SETS, law, 3)["conjugate gradients"]["parameter"] == 0).all()


PARAMETER = {"steps": 0.01, "best shared steps": 0.01, "1 / L": 0.05, "all": 0.01,
             "all, as printed": 0.3}  # fmt: skip
PREDICTION = {"all, as printed": 0.001, "best shared steps": 0.004}


def frames(loss="", **changed):
    whole = {"parameter": PARAMETER, "prediction": PREDICTION}
    rows = [
        {"method": method, "loss": name, "examples": n, "replicate": r, "value": value}
        for name, every in whole.items()
        for method, value in (every | (changed if name == loss else {})).items()
        for n in (16, 64) for r in range(5)
    ]  # fmt: skip
    return {"errors": pd.DataFrame(rows)}


@pytest.mark.parametrize(
    ("claim", "loss", "bad"),
    [
        ("learned-steps", "parameter", {"steps": 0.013}),
        ("learned-steps-against-own", "parameter", {"1 / L": 0.009}),
        ("learned-task", "prediction", {"all, as printed": 0.003}),
        ("learned-task-not-theta", "parameter", {"all": 0.1}),
    ],
)
def test_claims_fail_where_learning_does(claim, loss, bad):
    one = next(own for own in Learned({}) if own.claim == f"looped/{claim}")
    assert one.low <= one.measure(frames()).mean() <= one.high
    assert not one.low <= one.measure(frames(loss, **bad)).mean() <= one.high


ALL_STREAMS = Streams(0, "looped", "test", range(20))
PROMPTS = data.draw(12, 4, ALL_STREAMS("prompts"))
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
    assert all(held.all() for held in construction.within_bounds(PROMPTS, kappa, step, LOOPS))
    parameter, _ = construction.within_bounds(PROMPTS, kappa / 8, step, LOOPS)
    assert not parameter.any()
    of = SPECTRUM._replace(c=torch.tensor([1.0, 0, 0, 0], dtype=DTYPE).expand(20, 4))
    times = torch.arange(1, 30, dtype=DTYPE)
    log = closed_forms.log_error(of, 1 / of.smoothness, times)
    torch.testing.assert_close(log, 2 * times * torch.log1p(-1 / of.kappa)[:, None])


def test_one_loop_solves_the_task_with_a_single_example():
    prompts = data.draw(1, 4, ALL_STREAMS("one"))
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
    w = data.spectrum(data.draw(12, 4, ALL_STREAMS("law")[:1], 60)).w.flatten(0, -2)
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
    direct = data.spectrum(data.draw(12, 4, ALL_STREAMS("direct")[:1], 4000)).kappa[0].numpy()
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
