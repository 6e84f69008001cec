"""What theory says of the loops: exact errors, the printed bounds, and the optima they are held to.

Errors are kept as logarithms, where float64 has no floor. With ``w_i`` and ``c_i`` of a
:class:`~featlearn.looped.data.Spectrum` and a constant step eta::

    |theta^(T) - theta*|^2      = sum_i c_i (1 - eta w_i)^(2 T)
    <TF, theta*> / alpha - 1    = - sum_i c_i (1 - eta w_i)^T        if q^(0) = 0
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.polynomial import chebyshev
from torch import Tensor

from featlearn.looped.data import DTYPE, Spectrum


def log_error(of: Spectrum, step: Tensor, loops: Tensor) -> Tensor:
    """Logarithm of theta's squared error ``sum_i c_i |1 - step w_i|^(2 T)``, (..., len(loops))."""
    # 1 - w / L of the top eigenvalue is an exact 0, and 0^0 = 1, which xlogy knows
    factor = (1 - step[..., None] * of.w).abs()[..., None, :]
    return (of.c.log()[..., None, :] + torch.xlogy(2 * loops[:, None], factor)).logsumexp(-1)


def residual(of: Spectrum, steps: Sequence[Tensor] | Tensor) -> Tensor:
    """p(w_i), (..., d), with theta^(T) - theta* = p(H) (theta^(0) - theta*): prod of 1 - eta w."""
    p = torch.ones_like(of.w)
    for step in steps:
        p = p * (1 - step[..., None] * of.w)
    return p


def conjugate_gradients(of: Spectrum, steps: int) -> Tensor:
    """p(w_i), (..., d), of so many steps of conjugate gradients: 0 from step d on. The polynomial
    with p(0) = 1 that minimises sum_i w_i c_i p(w_i)^2."""
    if steps >= of.w.shape[-1]:
        return torch.zeros_like(of.w)
    scaled = of.w / of.w[..., -1:]
    weight = (scaled * of.c).sqrt()[..., None]
    columns = torch.stack([scaled**power for power in range(1, steps + 1)], -1)
    fit = least_squares(weight * columns, weight.squeeze(-1))
    return 1 - (columns @ fit[..., None]).squeeze(-1)


def least_squares(a: Tensor, b: Tensor) -> Tensor:
    """The x (..., k) of least \\|a x - b\\|, for ``a`` (..., n, k) of full rank and ``b`` (..., n).

    By QR: the last digits of ``torch.linalg.lstsq`` differ between two calls on the same matrices.
    """
    q, r = torch.linalg.qr(a)
    projected = (q * b[..., None]).sum(-2)
    return torch.linalg.solve_triangular(r, projected[..., None], upper=True).squeeze(-1)


def chebyshev_steps(low: Tensor, high: Tensor, steps: int) -> Tensor:
    """Steps (steps, ...) that minimise the largest error over all Hessians between two values."""
    nodes = torch.cos(torch.pi * (torch.arange(steps, dtype=DTYPE) + 0.5) / steps)
    centre, half = (high + low) / 2, (high - low) / 2
    return 1 / (centre + nodes.reshape(-1, *[1] * low.ndim) * half)


class Fixed(NamedTuple):
    """The best that steps which do not depend on the prompt can do."""

    error: float  #: mean over prompts of the loss that they minimise
    roots: np.ndarray  #: of the polynomial, 1 / eta each; complex where no real steps attain it

    def residual(self, w: Tensor) -> Tensor:
        """p(w), of the shape of ``w``."""
        factors = 1 - w.numpy()[..., None] / self.roots
        return torch.from_numpy(factors.prod(-1).real)


def best_fixed(w: Tensor, steps: int, loss: str) -> Fixed:
    """Least mean loss of ``steps`` loops of the construction with steps that all prompts share.

    The output is ``(1 - p(H)) alpha theta*`` with p of degree ``steps``, p(0) = 1, so that with
    theta* uniform on the sphere both losses are quadratic in p: ``parameter``: E sum_i p(w_i)^2 /
    d; ``prediction``: E [(sum_i p(w_i))^2 + 2 sum_i p(w_i)^2] / (d (d + 2)). ``w``: eigenvalues (B,
    d) of prompts that stand for the law.
    """
    dimension = w.shape[-1]
    low, high = w.min().item(), w.max().item()

    def basis(at: np.ndarray) -> np.ndarray:
        return chebyshev.chebvander((2 * at - high - low) / (high - low), steps)

    values = basis(w.numpy())  # (B, d, steps + 1)
    flat = values.reshape(-1, steps + 1)
    squares = flat.T @ flat / len(w)
    if loss == "parameter":
        form = squares / dimension
    else:
        sums = values.sum(1)
        form = (sums.T @ sums / len(w) + 2 * squares) / (dimension * (dimension + 2))
    at_zero = basis(np.zeros(1))[0]
    solution = np.linalg.solve(form, at_zero)
    least = 1 / float(at_zero @ solution)
    roots = chebyshev.chebroots(solution * least)
    return Fixed(least, (roots * (high - low) + high + low) / 2)


#: Mean of the Tracy-Widom law of order one, of the largest eigenvalue of real matrices.
TRACY_WIDOM_MEAN = -1.2065335745820


def edge_limit(ratio: float) -> float:
    """Condition number in the limit of Marchenko and Pastur, of n / d = ``ratio``."""
    root = 1 / math.sqrt(ratio)
    return ((1 + root) / (1 - root)) ** 2


def expected_kappa(examples: int, dimension: int) -> float:
    """The same at a finite dimension: both edges with the mean of their Tracy-Widom law. Centred as
    in Ma (2012), which leaves an error of order d^(-2/3) of the edge's own width."""
    wide, narrow = math.sqrt(examples - 0.5), math.sqrt(dimension - 0.5)
    edges = []
    for sign in (1, -1):
        sum_, slope = wide + sign * narrow, 1 / narrow + sign / wide
        edges.append(sum_**2 + sign * sum_ * slope ** (1 / 3) * TRACY_WIDOM_MEAN)
    return edges[0] / edges[1]
