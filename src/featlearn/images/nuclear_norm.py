"""The nuclear norm of a batch of features, and stable ranks, by the smaller Gram matrix."""

from __future__ import annotations

import itertools
from typing import Any

import torch
from torch import Tensor

#: Singular values below this share of the largest have no gradient: the subgradient U V^T of the
#: rank that floating point can tell.
RELATIVE = 1e-7


class _NuclearNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, features: Tensor) -> Tensor:
        wide = features.shape[-2] <= features.shape[-1]
        own = features.double()
        values, vectors = torch.linalg.eigh(_lower_gram(own if wide else own.mT))
        sigma = values.clamp(min=0).sqrt()
        kept = sigma > RELATIVE * sigma[..., -1:]
        inverse = torch.where(kept, 1 / sigma.clamp(min=1e-300), 0.0)
        ctx.wide = wide
        ctx.save_for_backward(features, vectors, inverse)
        return sigma.sum(-1).to(features.dtype)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Tensor:
        features, vectors, inverse = ctx.saved_tensors
        scaled = vectors * (grads[0].double()[..., None] * inverse)[..., None, :]
        root = (scaled @ vectors.mT).to(features.dtype)
        return root @ features if ctx.wide else features @ root


def _lower_gram(x: Tensor) -> Tensor:
    """x x^T, of which eigh reads the lower triangle; above it blocks are left out (0)."""
    rows = x.shape[-2]
    if x.dim() > 2 or rows < 64:
        return x @ x.mT
    gram, edges = x.new_zeros(rows, rows), [rows * i // 4 for i in range(5)]
    for start, end in itertools.pairwise(edges):
        gram[start:end, :end] = x[start:end] @ x[:end].T
    return gram


def nuclear_norm(features: Tensor) -> Tensor:
    """Sum of the singular values of ``features`` (..., N, p), with the subgradient U V^T.

    Computed from the Gram matrix in float64; the gradient cannot be differentiated again.

    Examples
    --------
    >>> nuclear_norm(torch.diag(torch.tensor([3.0, 4.0])))
    tensor(7.)
    """
    norm: Tensor = _NuclearNorm.apply(features)  # type: ignore[no-untyped-call]
    return norm


def stable_ranks(features: Tensor) -> dict[str, float]:
    """Stable rank of ``features`` (n, p) as chapter 6 of Shi 2024 prints it, and as it is defined.

    ``printed``: ||M||_F^2 / ||M||_2, which has the unit of a feature; ``standard``: ||M||_F^2 /
    ||M||_2^2; ``centred``: the same of features without their mean.
    """
    own = features.double()
    found = {}
    for name, matrix in (("standard", own), ("centred", own - own.mean(0))):
        values = torch.linalg.eigvalsh(matrix.mT @ matrix).clamp(min=0)
        largest = float(values[-1])
        found[name] = float(values.sum()) / max(largest, 1e-300)
        if name == "standard":
            found["printed"] = float(values.sum()) / max(largest, 1e-300) ** 0.5
    return found
