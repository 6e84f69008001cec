"""What Fact 2.2 prints against the gradient, random instances in float64: one number each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from featlearn.mrp.gradients import mae_descent, mae_descent_as_printed
from featlearn.mrp.model import Activation


class Instance(NamedTuple):
    """Random inputs: ``x`` (R, N, P, d), ``w`` (R, K, d), ``theta`` (R,), float64."""

    x: Tensor
    w: Tensor
    theta: Tensor


def uniform(low: float, high: float, streams: Sequence[torch.Generator]) -> Tensor:
    """(R,) numbers, one a stream."""
    draws = [torch.rand((), generator=stream, dtype=torch.float64) for stream in streams]
    return low + (high - low) * torch.stack(draws)


def gaussian(shape: tuple[int, ...], streams: Sequence[torch.Generator]) -> Tensor:
    """(R, *shape) standard Gaussians."""
    return torch.stack([torch.randn(shape, generator=s, dtype=torch.float64) for s in streams])


def random_instance(
    streams: Sequence[torch.Generator],
    *,
    samples: int,
    patches: int,
    dimension: int,
    kernels: int,
    kernel_std: float,
) -> Instance:
    """Gaussian patches and kernels, ``theta`` in [0.1, 0.9]."""
    return Instance(
        x=gaussian((samples, patches, dimension), streams),
        w=kernel_std * gaussian((kernels, dimension), streams),
        theta=uniform(0.1, 0.9, streams),
    )


def relative_error(value: Tensor, wanted: Tensor) -> Tensor:
    """``|value - wanted| / |wanted|`` over all axes but the first: (R,)."""
    value, wanted = value.flatten(1), wanted.flatten(1)
    return (value - wanted).norm(dim=1) / wanted.norm(dim=1)


def cosine(first: Tensor, second: Tensor) -> Tensor:
    """Cosine of the angle between two tensors, over all axes but the first: (R,)."""
    return torch.cosine_similarity(first.flatten(1), second.flatten(1), dim=1)


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
