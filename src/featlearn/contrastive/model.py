"""The learner: one layer of symmetrised ReLUs, no output layer, no normalisation (section 2)."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor


def symmetrised_relu(u: Tensor, b: Tensor) -> Tensor:
    """``h = ReLU(u - b) - ReLU(-u - b)`` for ``u`` (..., n, m) and thresholds ``b`` (..., m).

    With ``b >= 0`` the soft threshold: zero for ``|u| <= b``. With ``b < 0``, which only trained
    biases reach, it has slope 2 for ``|u| < |b|``.
    """
    b = b.unsqueeze(-2)
    return torch.relu(u - b) - torch.relu(-u - b)


def soft_threshold(u: Tensor, b: Tensor) -> Tensor:
    """``symmetrised_relu`` for ``b >= 0`` in half the passes over memory; ``u`` is overwritten."""
    b = b.unsqueeze(-2)
    return u.sub_(torch.clamp(u, -b, b))


def slope(u: Tensor, b: Tensor) -> Tensor:
    """``dh/du = 1{u > b} + 1{u < -b}``."""
    b = b.unsqueeze(-2)
    return (u > b).to(u.dtype) + (u < -b).to(u.dtype)


def bias_slope(u: Tensor, b: Tensor) -> Tensor:
    """``dh/db = -1{u > b} + 1{u < -b}``."""
    b = b.unsqueeze(-2)
    return (u < -b).to(u.dtype) - (u > b).to(u.dtype)


def encode(x: Tensor, w: Tensor, b: Tensor) -> Tensor:
    """``f(x)`` (R, n, m) of samples (R, n, D) under weights (R, m, D), thresholds (R, m)."""
    return symmetrised_relu(torch.bmm(x, w.mT), b)


def initial_weights(
    neurons: int, dimension: int, norm: float, streams: Sequence[torch.Generator]
) -> Tensor:
    """Weights (R, m, D), float32: Gaussian, with ``E ||w_i||^2 = norm**2`` (``sigma_0^2 d_1``)."""
    std = norm / dimension**0.5
    drawn = [torch.randn((neurons, dimension), generator=s) for s in streams]
    return std * torch.stack(drawn)
