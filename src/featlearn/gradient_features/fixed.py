"""The least hinge loss of given features under a head of bounded norm (Proposition 3.23).

    min over |w| <= B of  mean_i max(0, 1 - y_i <w, psi(x_i)>)

Solved as a saddle point by primal-dual steps (Chambolle and Pock 2011), so that the loss comes with
a certificate: no head does better than the value of the dual.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor

from featlearn.gradient_features.model import Network


class Least(NamedTuple):
    """A head and what it is worth."""

    w: Tensor  #: (N,)
    loss: float  #: of this head
    certified: float  #: of no head of this norm is the loss below this


def bounded_features(network: Network, x: Tensor) -> Tensor:
    """Features of one network at signs ``x`` (n, d), each over its supremum: (n, M) in [0, 1]."""
    most = network.w[0].abs().sum(1) - network.b[0]  # at x = sign(w)
    return network.features(x[None])[0] / most.clamp_min(torch.finfo(most.dtype).tiny)


def least_hinge(features: Tensor, y: Tensor, norm: float, steps: int) -> Least:
    """Best head of features (n, N) and labels (n,) in the ball of this ``norm``.

    The last iterate and the mean of the later half are both tried, and the better one is kept.
    """
    signed = y[:, None] * features
    count, width = signed.shape
    size = torch.linalg.matrix_norm(signed, 2).item() / count
    ratio = norm / math.sqrt(count)  # of the two unknowns' scales
    rate, dual_rate = ratio / size, 1 / (ratio * size)
    w, ahead, dual = (signed.new_zeros(length) for length in (width, width, count))
    mean_w, mean_dual = torch.zeros_like(w), torch.zeros_like(dual)
    for step in range(steps):
        dual = (dual + dual_rate * (1 - signed @ ahead) / count).clamp(0, 1)
        new = w + rate * (signed.mT @ dual) / count
        new = new * min(1.0, norm / max(new.norm().item(), 1e-300))
        ahead, w = 2 * new - w, new
        if step >= steps // 2:
            share = 1 / (step - steps // 2 + 1)
            mean_w, mean_dual = mean_w.lerp(w, share), mean_dual.lerp(dual, share)
    heads = [((1 - signed @ each).clamp_min(0).mean().item(), each) for each in (w, mean_w)]
    certified = max(
        (each.mean() - norm * (signed.mT @ each / count).norm()).item()
        for each in (dual, mean_dual)
    )
    loss, best = min(heads, key=lambda head: head[0])
    return Least(best, loss, certified)
