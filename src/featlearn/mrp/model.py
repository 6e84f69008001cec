"""The smoothed ReLU, the one-layer encoder of the paper, and its heads (section 3).

Kernels ``w`` have shape (R, K, d): K kernels in each of R replicates. Supervised networks own
``K / k`` kernels a class, in consecutive blocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from featlearn.core.seeds import draws


@dataclass(frozen=True)
class Activation:
    """Exponent ``q`` and threshold ``varrho`` of the smoothed ReLU."""

    q: int
    varrho: float


def smoothed_relu(u: Tensor, q: int, varrho: float) -> Tensor:
    """Smoothed ReLU: 0, then ``u**q / (q varrho**(q-1))``, then ``u - (1 - 1/q) varrho``.

    C1 everywhere. Its linear branch has an offset, so it is not homogeneous there; and it is
    exactly 0 at 0, which is what makes a masked patch contribute nothing.
    """
    inside = (u / varrho).clamp(0, 1)
    return inside**q * (varrho / q) + (u - varrho).clamp_min(0)


def smoothed_relu_slope(u: Tensor, q: int, varrho: float) -> Tensor:
    """Derivative of :func:`smoothed_relu`: 0, ``(u / varrho)**(q-1)``, 1."""
    return (u / varrho).clamp(0, 1) ** (q - 1)


def initial_kernels(
    count: int, dimension: int, sigma_0: float, streams: Sequence[torch.Generator]
) -> Tensor:
    """Kernels ``N(0, sigma_0**2 I)``: (R, K, d) float32."""
    return sigma_0 * draws(torch.randn, streams, count, dimension)


def encode(x: Tensor, w: Tensor, q: int, varrho: float) -> Tensor:
    """``h_r(X)`` (R, N, K), summed over patches: ``x`` (R, N, P, d), kernels ``w`` (R, K, d)."""
    replicates, samples, patches, dimension = x.shape
    u = torch.bmm(x.reshape(replicates, samples * patches, dimension), w.transpose(1, 2))
    return smoothed_relu(u, q, varrho).view(replicates, samples, patches, -1).sum(2)


def fixed_block_head(classes: int, kernels: int, replicates: int) -> Tensor:
    """Head of the supervised network of Lemma 1 (Allen-Zhu & Li): class i sums its own kernels.

    Returns a Tensor (R, k, K) of ones and zeros. Raises ValueError if the kernels cannot be divided
    evenly among the classes.
    """
    if kernels % classes:
        raise ValueError(f"kernels: {kernels}; expected a multiple of classes ({classes})")
    block = torch.eye(classes).repeat_interleave(kernels // classes, dim=1)
    return block.expand(replicates, -1, -1).clone()


def class_scores(h: Tensor, u: Tensor) -> Tensor:
    """``F_i = sum_r u_{i,r} h_r``: (R, N, K) and (R, k, K) to (R, N, k)."""
    return torch.bmm(h, u.transpose(1, 2))


def correlations(w: Tensor, features: Tensor) -> Tensor:
    """``<w_r, v_{i,l}>``: (R, K, d) and (R, k, L, d) to (R, K, k, L)."""
    replicates, classes, views, dimension = features.shape
    flat = features.reshape(replicates, classes * views, dimension)
    return torch.bmm(w, flat.transpose(1, 2)).view(replicates, -1, classes, views)


def capture_strength(w: Tensor, features: Tensor) -> Tensor:
    """``Lambda_{i,l} = max_r [<w_r, v_{i,l}>]^+`` (R, k, L)."""
    return correlations(w, features).amax(1).clamp_min(0)
