"""Encoder, prediction head, normalisation, loss (section 3.1); leading axes are batch axes."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

Normalisation = Literal["batch", "l2", "none"]


def _cubes(x: Tensor, w: Tensor) -> Tensor:
    """``<w_j, X_p>**3``, (..., N, P, m); one matrix product a leading index."""
    products = x.flatten(-3, -2) @ w.transpose(-1, -2)
    products = products.view(*products.shape[:-2], *x.shape[-3:-1], w.shape[-2])
    return products * products * products


def encode(x: Tensor, w: Tensor) -> Tensor:
    """``f_j(X) = sum_p <w_j, X_p>**3``: (..., N, m) of (..., N, P, d) and neurons (..., m, d)."""
    return _cubes(x, w).sum(-2)


def encode_views(x: Tensor, first: Tensor, w: Tensor) -> tuple[Tensor, Tensor]:
    """:func:`encode` of both views: of the patches that ``first`` (..., N, P) keeps, and the rest.

    A masked patch is zero and adds nothing, so both come from one set of products.
    """
    cubes = _cubes(x, w)
    one = (cubes.transpose(-1, -2) @ first.unsqueeze(-1)).squeeze(-1)
    return one, cubes.sum(-2) - one


def with_head(f: Tensor, e: Tensor) -> Tensor:
    """``F_j = f_j + sum_{r != j} E_jr f_r``: the identity plus the trained off-diagonals.

    ``f``: (..., N, m) outputs of the encoder. ``e``: (..., m, m); its diagonal is not read.
    """
    off = e - torch.diag_embed(e.diagonal(dim1=-2, dim2=-1))
    return f + f @ off.transpose(-1, -2)


def normalise(z: Tensor, kind: Normalisation) -> Tensor:
    """Normalise (..., N, m): each neuron over the batch (eq. 3.1), each sample, or not at all.

    ``batch`` has a biased variance, no epsilon, no affine part and no memory, as in the paper.
    """
    if kind == "batch":
        centred = z - z.mean(-2, keepdim=True)
        return centred / centred.square().mean(-2, keepdim=True).sqrt()
    if kind == "l2":
        return z / z.norm(dim=-1, keepdim=True)
    return z


def loss(
    f: Tensor,
    g: Tensor,
    e: Tensor,
    normalisation: Normalisation = "batch",
    *,
    stop_gradient: bool = True,
) -> Tensor:
    """Half the mean squared distance between the online output and its target.

    Equation (3.3) prints both the squared distance and ``2 - <F, G>``; with batch normalisation the
    second is half of the first (for two neurons). All of the paper's appendix belongs to the half,
    and so does a learning rate here.

    ``f``, ``g``: (..., N, m): the encoder on the first and on the second view. ``e``: (..., m, m)
    off-diagonals of the head. Returns (...), with batch normalisation ``m - mean <F, G>``.
    """
    online = normalise(with_head(f, e), normalisation)
    target = normalise(g, normalisation)
    if stop_gradient:
        target = target.detach()
    return (online - target).square().sum(-1).mean(-1) / 2


def correlation(f: Tensor) -> Tensor:
    """Correlations (..., m, m) of neurons over a batch (..., N, m)."""
    z = normalise(f, "batch")
    return z.transpose(-1, -2) @ z / z.shape[-2]
