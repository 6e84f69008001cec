"""Chapter 8, ours: what is learned through the loops, and the config."""

from math import comb

import pandas as pd
import pytest
import torch

from featlearn.core.progress import Progress
from featlearn.core.seeds import Streams
from featlearn.looped import closed_forms, data, learned, model
from featlearn.looped.analysis.learned import Learned
from featlearn.looped.data import DTYPE
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
