"""The closed forms against brute force: all masks one by one, and automatic differentiation.

Random instances in float64, one a replicate; every function returns one number an instance.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from featlearn.mrp.closed_forms import captured_slope, critical_teacher_factor, polynomial_slope
from featlearn.mrp.gradients import (
    mae_descent,
    mae_descent_as_printed,
    mae_loss,
    teacher_student_descent,
    teacher_student_loss,
)
from featlearn.mrp.model import Activation, encode, smoothed_relu


class Instance(NamedTuple):
    """Random inputs: ``x`` (R, N, P, d), ``w`` (R, K, d), ``theta`` and ``tau`` (R,), float64."""

    x: Tensor
    w: Tensor
    theta: Tensor
    tau: Tensor
    activation: Activation

    @property
    def target(self) -> Tensor:
        """(R, N, K): what the teacher ``tau * w`` makes of the whole samples; a constant."""
        w = self.tau.view(-1, 1, 1) * self.w.detach()
        return encode(self.x, w, self.activation.q, self.activation.varrho)


def uniform(low: float, high: float, streams: Sequence[torch.Generator]) -> Tensor:
    """(R,) numbers, one a stream."""
    draws = [torch.rand((), generator=stream, dtype=torch.float64) for stream in streams]
    return low + (high - low) * torch.stack(draws)


def gaussian(shape: tuple[int, ...], streams: Sequence[torch.Generator]) -> Tensor:
    """(R, *shape) standard Gaussians."""
    return torch.stack([torch.randn(shape, generator=s, dtype=torch.float64) for s in streams])


def random_instance(
    streams: Sequence[torch.Generator],
    activation: Activation,
    *,
    samples: int,
    patches: int,
    dimension: int,
    kernels: int,
    kernel_std: float,
) -> Instance:
    """Gaussian patches and kernels, ``theta`` in [0.1, 0.9], ``tau`` in [1, 3]."""
    return Instance(
        x=gaussian((samples, patches, dimension), streams),
        w=kernel_std * gaussian((kernels, dimension), streams),
        theta=uniform(0.1, 0.9, streams),
        tau=uniform(1.0, 3.0, streams),
        activation=activation,
    )


def relative_error(value: Tensor, wanted: Tensor) -> Tensor:
    """``|value - wanted| / |wanted|`` over all axes but the first: (R,)."""
    value, wanted = value.flatten(1), wanted.flatten(1)
    return (value - wanted).norm(dim=1) / wanted.norm(dim=1)


def cosine(first: Tensor, second: Tensor) -> Tensor:
    """Cosine of the angle between two tensors, over all axes but the first: (R,)."""
    return torch.cosine_similarity(first.flatten(1), second.flatten(1), dim=1)


# --------------------------------------------------------------------------- enumeration


def all_masks(patches: int) -> Tensor:
    """(2**P, P) of zeros and ones."""
    return torch.tensor(list(itertools.product((0.0, 1.0), repeat=patches)), dtype=torch.float64)


def _masked_responses(given: Instance, w: Tensor) -> tuple[Tensor, Tensor]:
    """Smoothed ReLU of all masked patches (M, R, N, P, K), and the masks' chances (M, R)."""
    masks = all_masks(given.x.shape[2])
    masked = masks.view(len(masks), 1, 1, -1, 1) * given.x
    u = torch.einsum("mrnpd,rkd->mrnpk", masked, w)
    kept = masks.sum(1, keepdim=True)
    chance = given.theta**kept * (1 - given.theta) ** (masks.shape[1] - kept)
    return smoothed_relu(u, given.activation.q, given.activation.varrho), chance


def enumerated_teacher_student_loss(given: Instance, w: Tensor, scale: Tensor) -> Tensor:
    """Mean masked loss over all masks, decoder scale b = ``scale`` (R,): (R,)."""
    s, chance = _masked_responses(given, w)
    error = given.target - scale.view(1, -1, 1, 1) * s.sum(3)
    return (chance * (error**2).sum(-1).mean(-1)).sum(0) / 2


def enumerated_mae_loss(given: Instance, w: Tensor) -> Tensor:
    """The same for the MAE framework with scale ``1/theta``, over visible and masked patches."""
    s, chance = _masked_responses(given, w)
    rebuilt = torch.einsum("mrnpk,rkd->mrnpd", s, w) / given.theta.view(1, -1, 1, 1, 1)
    return (chance * ((given.x - rebuilt) ** 2).sum((-1, -2)).mean(-1)).sum(0) / 2


def descent_by_autograd(loss: Callable[[Tensor], Tensor], w: Tensor) -> Tensor:
    """Negative gradient of a loss (R,) of the kernels (R, K, d)."""
    w = w.detach().requires_grad_()
    (gradient,) = torch.autograd.grad(loss(w).sum(), w)
    return -gradient


def identity_errors(given: Instance) -> dict[str, Tensor]:
    """Relative errors of the closed forms of expected loss and gradient, (R,) each."""
    x, w, theta, activation = given.x, given.w, given.theta, given.activation
    scale = 1 / theta
    ts_loss = teacher_student_loss(x, w, given.target, theta, activation)
    ts_down = teacher_student_descent(x, w, theta, activation, tau=given.tau)
    ts_truth = descent_by_autograd(lambda v: enumerated_teacher_student_loss(given, v, scale), w)
    mae_truth = descent_by_autograd(lambda v: enumerated_mae_loss(given, v), w)
    s, chance = _masked_responses(given, w)
    mean = (chance.view(*chance.shape, 1, 1) * s.sum(3)).sum(0) * scale.view(-1, 1, 1)
    plain = encode(x, w, activation.q, activation.varrho)
    return {
        "teacher_student_loss": relative_error(
            ts_loss.unsqueeze(1), enumerated_teacher_student_loss(given, w, scale).unsqueeze(1)
        ),
        "teacher_student_gradient": relative_error(ts_down, ts_truth),
        "mae_loss": relative_error(
            mae_loss(x, w, theta, activation).unsqueeze(1),
            enumerated_mae_loss(given, w).unsqueeze(1),
        ),
        "mae_gradient": relative_error(mae_descent(x, w, theta, activation), mae_truth),
        "unbiased": relative_error(mean, plain),
        "best_scale": _best_scale(given),
    }


def _best_scale(given: Instance) -> Tensor:
    """``theta b*``, the scale of least loss against a copy: three values fix the parabola."""
    plain = Instance(given.x, given.w, given.theta, torch.ones_like(given.tau), given.activation)
    low, middle, high = (
        enumerated_teacher_student_loss(plain, plain.w, factor / plain.theta)
        for factor in (0.5, 1.0, 1.5)
    )
    return 1.0 + 0.25 * (low - high) / (low - 2 * middle + high)


def printed_against_true(
    x: Tensor, w: Tensor, theta: float | Tensor, activation: Activation
) -> dict[str, Tensor]:
    """Fact 2.2 as printed against the gradient: relative error and cosine, (R,) each."""
    printed = mae_descent_as_printed(x, w, theta, activation)
    true = mae_descent(x, w, theta, activation)
    return {"relative_error": relative_error(printed, true), "cosine": cosine(printed, true)}


def parallel_instance(given: Instance) -> tuple[Tensor, Tensor]:
    """One kernel and patches along it, the case in which the printed vector is the gradient."""
    w = given.w[:, :1]
    along = (given.x[..., :1] + 0.5).abs()
    return along * torch.nn.functional.normalize(w, dim=-1).unsqueeze(2), w


# --------------------------------------------------------------------------- teacher factor


def teacher_factor_errors(
    streams: Sequence[torch.Generator], activation: Activation
) -> dict[str, Tensor]:
    """The slopes of one kernel along one feature against the library's gradient, (R,) each.

    Random C_p in {1, 2, 3}, strength, theta and teacher factor. ``polynomial_slope`` and
    ``captured_slope`` are relative errors; ``critical_factor`` is 0 where the gradient's sign turns
    between 0.1 % below and 0.1 % above the critical teacher factor, else 1.
    """
    q, varrho = activation.q, activation.varrho
    patches = uniform(1, 4, streams).floor()
    z, theta = uniform(0.5, 2.0, streams), uniform(0.1, 0.9, streams)
    near, delta = uniform(0.3, 1.0, streams), uniform(0.0, 0.5, streams)
    tau = uniform(1.0, 3.0, streams)
    v = torch.nn.functional.normalize(gaussian((4,), streams), dim=1)
    held = (torch.arange(3) < patches.view(-1, 1)).double()
    x = (held * z.view(-1, 1)).view(-1, 1, 3, 1) * v.view(-1, 1, 1, 4)

    def slope(a: Tensor, factor: Tensor) -> Tensor:
        w = (a.view(-1, 1) * v).unsqueeze(1)
        down = teacher_student_descent(x, w, theta, activation, tau=factor)
        return (down.squeeze(1) * v).sum(1)

    def error(value: Tensor, wanted: Tensor) -> Tensor:
        return relative_error(value.unsqueeze(1), wanted.unsqueeze(1))

    small = near * varrho / (tau * z)
    polynomial = polynomial_slope(small, z, patches, theta, tau, activation)
    large = (1 + near) * varrho / z
    captured = captured_slope(large, z, patches, theta, delta, activation)
    factor = 1 + (1 - theta) / (patches * theta) + delta
    critical = critical_teacher_factor(theta, patches, q)
    tiny = near * varrho / (2 * critical * z)
    turns = (slope(tiny, 0.999 * critical) < 0) & (slope(tiny, 1.001 * critical) > 0)
    return {
        "polynomial_slope": error(slope(small, tau), polynomial),
        "captured_slope": error(slope(large, factor), captured),
        "critical_factor": 1.0 - turns.double(),
    }


# --------------------------------------------------------------------------- races

#: Draws of ``C_t`` taken from a generator at a time.
BLOCK = 1000


def race(
    q: int,
    ratio: np.ndarray,
    head_start: np.ndarray,
    noises: Sequence[np.random.Generator],
    *,
    goal: float = 1.0,
    step: float = 0.02,
    max_steps: int = 100_000,
    length: float = 10_000,
) -> np.ndarray:
    """Iterate two racing sequences, with equality, until x reaches ``goal``.

    The lemma (F.4 in the later version; Allen-Zhu & Li, C.19): ``x`` grows at least by
    ``eta C_t x**(q-1)`` a step, ``y`` at most by ``eta S C_t y**(q-1)``. If x starts ahead by more
    than the factor ``S**(1/(q-2))``, then y is still near its start when x has arrived: the kernel
    that starts ahead wins the feature, the others stay where they were. Teacher and student use it
    with ``2q`` in place of ``q``, MAE with ``q + 1``.

    ``q``: exponent; at least 3. ``ratio``: ``S``, one an instance. ``head_start``: ``x_0 / (y_0
    S**(1/(q-2))) - 1``; the lemma wants it above 1 / polylog. ``noises``: draw ``C_t``, uniform in
    [0.5, 1.5], the same for x and y; one generator an instance. ``step``: relative growth of x in
    its last step; sets ``eta``. ``length``: number of steps that x shall take, about; sets ``x_0``.
    Returns an array: ``y_T / y_0`` when x has arrived, one an instance; infinite if y overtook x.
    """
    power = q - 2
    rate = step / goal**power
    x = np.full(ratio.shape, (length * rate * power + goal**-power) ** (-1 / power))
    y = x / ((1 + head_start) * ratio ** (1 / power))
    start = y.copy()
    rates = np.empty((0, ratio.size))
    for count in range(max_steps):
        if count % BLOCK == 0:
            rates = rate * np.stack([noise.uniform(0.5, 1.5, BLOCK) for noise in noises], axis=1)
        running = (x < goal) & (y < goal)
        if not running.any():
            break
        drawn = rates[count % BLOCK]
        x = np.where(running, x + drawn * x ** (q - 1), x)
        y = np.where(running, y + drawn * ratio * y ** (q - 1), y)
    return np.where(x >= goal, y / start, np.inf)


def bound(q: int, head_start: np.ndarray) -> np.ndarray:
    """``y_T / y_0`` in continuous time for a distant goal: ``(1 - (1+h)^-(q-2))^(-1/(q-2))``.

    About ``((q-2) h)^(-1/(q-2))``: polylog k for a head start of 1 / polylog k, as the lemma says.
    """
    power = q - 2
    return (1 - (1 + head_start) ** -float(power)) ** (-1 / power)
