"""The closed forms against brute force: all masks one by one, and automatic differentiation.

Random instances in float64, one a replicate; every function returns one number an instance.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from featlearn.core.seeds import Streams
from featlearn.mrp.closed_forms import (
    captured_slope,
    critical_teacher_factor,
    polynomial_slope,
)
from featlearn.mrp.gradients import (
    mae_descent,
    mae_descent_as_printed,
    mae_loss,
    teacher_student_descent,
    teacher_student_loss,
)
from featlearn.mrp.model import Activation, encode, smoothed_relu


@dataclass(frozen=True)
class Instance:
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


def relative_error(found: Tensor, wanted: Tensor) -> Tensor:
    """``|found - wanted| / |wanted|`` over all axes but the first: (R,)."""
    found, wanted = found.flatten(1), wanted.flatten(1)
    return (found - wanted).norm(dim=1) / wanted.norm(dim=1)


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
    """``theta b*``: the decoder scale that minimises the loss against an ordinary copy (tau = 1).

    The loss is a parabola in b, so three enumerated values give its lowest point.
    """
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

    def error(found: Tensor, wanted: Tensor) -> Tensor:
        return relative_error(found.unsqueeze(1), wanted.unsqueeze(1))

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


# --------------------------------------------------------------------------- rows

#: Sizes of the random instances: small enough for all ``2**P`` masks.
SIZES = {"samples": 2, "patches": 6, "dimension": 5, "kernels": 6}
#: Standard deviation of the kernels in the instances on which the identities are checked: the
#: products fall on all three branches of the activation.
IDENTITY_STD = 0.3
VARRHO = 0.3

#: Columns of ``instances.parquet``: one row a check, exponent, size of the kernels and replicate.
INSTANCE_COLUMNS = ("quantity", "q", "kernel_std", "replicate", "value")
InstanceRow = tuple[str, int, float, int, float]


def instance_rows(q: int, config: Mapping[str, Any], streams: Streams) -> Iterator[InstanceRow]:
    """All checks on random instances of one exponent: rows of :data:`INSTANCE_COLUMNS`."""
    activation = Activation(q, VARRHO)
    for std in config["kernel_std"]:
        given = random_instance(streams(f"instance-{q}-{std}"), activation, kernel_std=std, **SIZES)
        printed = printed_against_true(given.x, given.w, given.theta, activation)
        yield from _rows(q, std, {f"printed_{name}": value for name, value in printed.items()})
    given = random_instance(streams(f"identity-{q}"), activation, kernel_std=IDENTITY_STD, **SIZES)
    yield from _rows(q, IDENTITY_STD, identity_errors(given))
    parallel = printed_against_true(*parallel_instance(given), given.theta, activation)
    yield from _rows(q, IDENTITY_STD, {f"parallel_{key}": v for key, v in parallel.items()})
    yield from _rows(q, 0.0, teacher_factor_errors(streams(f"teacher-factor-{q}"), activation))


def _rows(q: int, std: float, quantities: Mapping[str, Tensor]) -> Iterator[InstanceRow]:
    for quantity, values in quantities.items():
        for replicate, value in enumerate(values.tolist()):
            yield quantity, q, std, replicate, value
