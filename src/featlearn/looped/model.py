"""The looped transformer with linear attention (Definitions 8.6 and 8.7), in the shapes that fit.

The thesis prints Q, P as d x d and Z as n x d; they are (d + 1) x (d + 1) and (n + 1) x (d + 1).
``Attn(Z) = (M o (Z Q Z^T)) Z P`` with o entry by entry, without softmax and without 1 / n. Its mask
is no causal one: only the query attends, and only to the examples.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from featlearn.looped.data import DTYPE, Prompts
from featlearn.transformers.attention import hadamard_attention


class Weights(NamedTuple):
    """Of the one layer that is looped; the mask too belongs to the construction."""

    q: Tensor  #: (..., d + 1, d + 1), queries times keys
    p: Tensor  #: (..., d + 1, d + 1), values times output
    mask: Tensor  #: (n + 1, n + 1)


def attention(z: Tensor, weights: Weights) -> Tensor:
    """Linear attention of Definition 8.6, of tokens (..., n + 1, d + 1)."""
    return hadamard_attention(z, weights.q, weights.p, weights.mask)


def construction(examples: int, dimension: int) -> Weights:
    """Q = I, P without its last entry, and the mask of Lemma 8.13."""
    p = torch.eye(dimension + 1, dtype=DTYPE)
    p[-1, -1] = 0
    mask = torch.zeros(examples + 1, examples + 1, dtype=DTYPE)
    mask[-1, :-1] = 1
    return Weights(torch.eye(dimension + 1, dtype=DTYPE), p, mask)


def ablations(examples: int, dimension: int) -> dict[str, Weights]:
    """The construction, and what differs from it in one part."""
    printed = construction(examples, dimension)
    ones = torch.ones_like(printed.mask)
    sees_itself = printed.mask.clone()
    sees_itself[-1, -1] = 1
    return {
        "construction": printed,
        "causal": printed._replace(mask=ones.tril()),
        "strictly causal": printed._replace(mask=ones.tril(-1)),
        "query sees itself": printed._replace(mask=sees_itself),
        "no mask": printed._replace(mask=ones),
        "P = I": printed._replace(p=torch.eye(dimension + 1, dtype=DTYPE)),
        # what P does to the values, done to the queries
        "labels unseen": printed._replace(q=printed.p),
    }


def loops(z: Tensor, weights: Weights, steps: Sequence[Tensor] | Tensor) -> Iterator[Tensor]:
    """Tokens after each loop of Definition 8.7, ``Z <- Z - eta Attn(Z)``. ``z``: (..., n + 1, d +
    1). ``steps``: eta^(0), eta^(1), ..., each of shape (...)."""
    for step in steps:
        z = z - step[..., None, None] * attention(z, weights)
        yield z


def output(z: Tensor) -> Tensor:
    """TF, (..., d): minus the query's first d entries."""
    return -z[..., -1, :-1]


def descent(prompts: Prompts, steps: Sequence[Tensor] | Tensor) -> Iterator[Tensor]:
    """theta after each step of gradient descent (8.2), (..., d), from ``-q^(0) / alpha``."""
    hessian, pull = prompts.hessian, prompts.x.mT @ prompts.y[..., None]
    theta = -(prompts.q / prompts.alpha[..., None])[..., None]
    for step in steps:
        theta = theta - step[..., None, None] * (hessian @ theta - pull)
        yield theta.squeeze(-1)
