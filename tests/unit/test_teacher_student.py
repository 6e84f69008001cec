"""The teacher-student framework: its masked loss, gradient, teacher factor and growth."""

from __future__ import annotations

import itertools

import pytest
import torch

from featlearn.mrp import blocks
from featlearn.mrp.gradients import (
    TeacherFactor,
    teacher_student_descent,
    teacher_student_descent_sampled,
    teacher_student_loss,
)
from featlearn.mrp.model import Activation, encode
from featlearn.mrp.train import FixedTeacher, TeacherStudent, pretrain

#: replicates, samples, patches, dimension, kernels
SHAPES = [(1, 1, 1, 1, 1), (1, 5, 3, 4, 6), (3, 7, 4, 5, 2)]
VARRHO = 0.3


def random_problem(shape, seed=0):
    replicates, samples, patches, dimension, kernels = shape
    stream = torch.Generator().manual_seed(seed)
    x = torch.randn(replicates, samples, patches, dimension, generator=stream, dtype=torch.float64)
    w = torch.randn(replicates, kernels, dimension, generator=stream, dtype=torch.float64)
    if dimension == 1:  # one kernel, one patch: of one sign, or nothing would be active
        x, w = x.abs(), w.abs()
    return x, 0.3 * w


def relu(u: torch.Tensor, activation: Activation) -> torch.Tensor:
    q, varrho = activation.q, activation.varrho
    inside = u.clamp(min=0) ** q / (q * varrho ** (q - 1))
    return torch.where(u <= varrho, inside, u - (1 - 1 / q) * varrho)


def outputs(x, w, activation):
    return relu(torch.einsum("rnpd,rkd->rnpk", x, w), activation).sum(2)


def enumerated_loss(x, w, target, theta, activation):
    """Mean over all 2**P masks of ``1/2 sum_r (target_r - 1/theta h_r(eps X))^2``: (R,)."""
    patches = x.shape[2]
    total = torch.zeros(x.shape[0], dtype=x.dtype)
    for kept in itertools.product((0, 1), repeat=patches):
        mask = torch.tensor(kept, dtype=x.dtype)[:, None]
        chance = theta ** sum(kept) * (1 - theta) ** (patches - sum(kept))
        error = target - outputs(mask * x, w, activation) / theta
        total = total + chance * (error**2).sum(2).mean(1) / 2
    return total


@pytest.mark.parametrize("q", [2, 3, 4])
@pytest.mark.parametrize("theta", [0.1, 0.4, 1.0])
def test_the_loss_is_the_mean_over_all_masks(q, theta):
    x, w = random_problem((2, 3, 5, 4, 6), seed=q)
    activation = Activation(q, VARRHO)
    target = outputs(x, 1.7 * w, activation)
    wanted = enumerated_loss(x, w, target, theta, activation)
    found = teacher_student_loss(x, w, target, theta, activation)
    torch.testing.assert_close(found, wanted, rtol=1e-12, atol=0)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("q", [2, 3, 4, 6])
@pytest.mark.parametrize("cache", [1, 3000, 1 << 30])
def test_the_descent_is_minus_the_gradient_with_the_teacher_held(monkeypatch, shape, q, cache):
    monkeypatch.setattr(blocks, "CACHE_BYTES", cache)
    x, w = random_problem(shape, seed=q)
    activation, theta, tau = Activation(q, VARRHO), 0.4, 1.6
    target = outputs(x, tau * w, activation)
    w.requires_grad_()
    loss = enumerated_loss(x, w, target, theta, activation)
    (gradient,) = torch.autograd.grad(loss.sum(), w)
    assert gradient.abs().max() > 0
    by_factor = teacher_student_descent(x, w.detach(), theta, activation, tau=tau)
    by_target = teacher_student_descent(x, w.detach(), theta, activation, target=target)
    torch.testing.assert_close(by_factor, -gradient, rtol=1e-10, atol=1e-12)
    torch.testing.assert_close(by_target, -gradient, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("given", [{}, {"tau": 1.5, "target": torch.zeros(1, 5, 6)}])
def test_either_a_factor_or_a_target_is_asked_for(given):
    x, w = random_problem((1, 5, 3, 4, 6))
    with pytest.raises(ValueError, match="exactly one of tau and target"):
        teacher_student_descent(x, w, 0.5, Activation(3, VARRHO), **given)


def test_kernels_do_not_interact():
    x, w = random_problem((2, 5, 3, 4, 6))
    activation = Activation(3, VARRHO)
    together = teacher_student_descent(x, w, 0.4, activation, tau=1.6)
    for kernel in range(6):
        alone = teacher_student_descent(x, w[:, [kernel]], 0.4, activation, tau=1.6)
        torch.testing.assert_close(together[:, [kernel]], alone, rtol=1e-12, atol=1e-14)


def test_a_theta_and_a_factor_for_each_replicate_are_used_by_it_alone():
    x, w = random_problem((3, 5, 3, 4, 6))
    activation = Activation(3, VARRHO)
    thetas, taus = torch.tensor([0.2, 0.5, 0.9]), torch.tensor([3.0, 2.0, 1.25])
    found = teacher_student_descent(x, w, thetas.double(), activation, tau=taus.double())
    target = outputs(x, 2 * w, activation)
    losses = teacher_student_loss(x, w, target, thetas.double(), activation)
    for r in range(3):
        one = slice(r, r + 1)
        theta, tau = float(thetas[r].double()), float(taus[r])
        alone = teacher_student_descent(x[one], w[one], theta, activation, tau=tau)
        torch.testing.assert_close(found[one], alone, rtol=1e-12, atol=1e-14)
        loss = teacher_student_loss(x[one], w[one], target[one], theta, activation)
        torch.testing.assert_close(losses[one], loss, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("theta", [0.3, 0.7])
def test_sampled_masks_give_the_exact_descent_on_average(theta):
    """2000 replicates of one problem are 2000 independent estimates: five standard errors."""
    x, w = random_problem((1, 3, 4, 3, 2))
    activation = Activation(3, VARRHO)
    exact = teacher_student_descent(x, w, theta, activation, tau=1.5)[0]
    found = teacher_student_descent_sampled(
        x.expand(2000, -1, -1, -1),
        w.expand(2000, -1, -1).contiguous(),
        theta,
        activation,
        tau=1.5,
        masks=3,
        stream=torch.Generator().manual_seed(0),
    )
    error = found.std(0) / 2000**0.5
    assert (error > 0).any()
    assert ((found.mean(0) - exact).abs() <= 5 * error + 1e-12).all()


def test_all_patches_kept_leaves_nothing_to_chance():
    x, w = random_problem((2, 3, 4, 3, 2))
    activation = Activation(3, VARRHO)
    stream = torch.Generator().manual_seed(0)
    sampled = teacher_student_descent_sampled(
        x, w, 1.0, activation, tau=1.5, masks=2, stream=stream
    )
    exact = teacher_student_descent(x, w, 1.0, activation, tau=1.5)
    torch.testing.assert_close(sampled, exact, rtol=1e-12, atol=1e-14)


# ------------------------------------------------------------------------------- teacher factor


@pytest.mark.parametrize(
    ("schedule", "step", "wanted"),
    [
        ("one", 0, 1.0),
        ("one", 9, 1.0),
        # theta = .4, C_p = 2: 1 + .6 / .8 = 1.75
        ("constant", 0, 1.75),
        ("constant", 7, 1.75),
        ("main", 0, 2.75),
        ("main", 7, 1.875),
        ("appendix", 0, 2.75),
        ("appendix", 8, 1.75 + 1 / 3),
    ],
)
def test_the_teacher_factor_follows_its_schedule(schedule, step, wanted):
    assert TeacherFactor(0.4, 2, schedule, q=3)(step) == pytest.approx(wanted, rel=1e-14)


def test_a_theta_for_each_replicate_gives_a_factor_for_each():
    thetas = torch.tensor([0.2, 0.5], dtype=torch.float64)
    found = TeacherFactor(thetas, 1, "constant", q=3)(0)
    torch.testing.assert_close(found, torch.tensor([5.0, 2.0], dtype=torch.float64))


def test_an_unknown_schedule_is_refused_by_name():
    with pytest.raises(ValueError, match="schedule: 'ema'; expected main"):
        TeacherFactor(0.5, 1, "ema", q=3)(0)


# ------------------------------------------------------------------------------- one feature


def one_feature(size: float, strength: float, patches: int):
    """One sample, ``patches`` patches of one feature, one kernel along it."""
    v = torch.tensor([0.6, 0.0, 0.8], dtype=torch.float64)
    return v, (strength * v).expand(1, 1, patches, 3), (size * v).view(1, 1, 3)


@pytest.mark.parametrize("q", [2, 3, 4])
@pytest.mark.parametrize("patches", [1, 2])
@pytest.mark.parametrize("delta", [0.0, 0.25])
def test_in_the_linear_regime_only_the_offset_and_delta_push(q, patches, delta):
    theta, z, size = 0.4, 1.2, 0.9
    v, x, w = one_feature(size, z, patches)
    tau = 1 + (1 - theta) / (patches * theta) + delta
    found = teacher_student_descent(x, w, theta, Activation(q, VARRHO), tau=tau)[0, 0]
    drift = (1 / theta - 1) * (1 - 1 / q) * VARRHO
    wanted = patches * z * (patches * delta * size * z + drift)
    torch.testing.assert_close(found, wanted * v, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("tau", [1.0, 1.5, 2.0])
def test_in_the_polynomial_regime_a_kernel_grows_only_under_a_large_enough_factor(tau):
    q, theta, z, size, patches = 3, 0.4, 1.2, 0.1, 2
    v, x, w = one_feature(size, z, patches)
    found = teacher_student_descent(x, w, theta, Activation(q, VARRHO), tau=tau)[0, 0]
    u = size * z
    value, slope = u**q / (q * VARRHO ** (q - 1)), (u / VARRHO) ** (q - 1)
    bracket = patches * (tau**q - 1) - (1 / theta - 1)
    torch.testing.assert_close(
        found, patches * z * value * slope * bracket * v, rtol=1e-12, atol=1e-16
    )
    assert (bracket > 0) == (tau > 1)  # a plain copy as teacher makes the kernel shrink


@pytest.mark.parametrize(("start", "rate"), [(0.04, 0.3), (0.06, 0.1)])
def test_the_hitting_time_is_that_of_the_closed_form(start, rate):
    """Section 4.8, up to a target that the teacher sees inside its polynomial regime."""
    q, theta, target = 3, 0.5, 0.15
    v, x, w = one_feature(start, 1.0, 1)
    method = TeacherStudent(Activation(q, VARRHO), TeacherFactor(theta, 1, "constant", q))
    gamma = (2**q - 1) - (1 / theta - 1)  # tau = 2
    power = 2 * q - 2
    span = start**-power - target**-power
    wanted = span * q * VARRHO**power / (power * rate * gamma)
    found = pretrain(
        x,
        v.view(1, 1, 1, 3),
        w,
        method,
        varrho=target,
        learning_rate=rate,
        max_steps=20_000,
        record_every=10_000,
    )
    assert found.hit.item() == pytest.approx(wanted, rel=0.01)


# ------------------------------------------------------------------------------- in the loop


def test_the_factor_of_a_run_starts_at_step_zero():
    x, w = random_problem((1, 5, 3, 4, 6))
    activation = Activation(3, VARRHO)
    factor = TeacherFactor(0.5, 1, "main", q=3)
    features = torch.eye(4, dtype=torch.float64)[:2].view(1, 2, 1, 4)
    found = pretrain(
        x,
        features,
        w,
        TeacherStudent(activation, factor),
        varrho=100.0,
        learning_rate=0.01,
        max_steps=2,
    )
    for tau in (3.0, 2.5):
        w = w + 0.01 * teacher_student_descent(x, w, 0.5, activation, tau=tau)
    torch.testing.assert_close(found.w, w, rtol=1e-12, atol=1e-14)


def test_a_fixed_teacher_teaches_each_replicate_its_own_outputs():
    x, w = random_problem((3, 5, 3, 4, 6))
    activation = Activation(3, VARRHO)
    teacher = 2 * w.flip(1)
    method = FixedTeacher(activation, 0.5, x, teacher)
    chosen = torch.tensor([2, 0])  # the others have finished
    found = method.descent(x[chosen], w[chosen], 7, chosen)
    target = encode(x, teacher, 3, VARRHO)[chosen]
    wanted = teacher_student_descent(x[chosen], w[chosen], 0.5, activation, target=target)
    torch.testing.assert_close(found, wanted, rtol=1e-12, atol=1e-14)
