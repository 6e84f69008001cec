"""In-context linear regression (chapter 5, section 5.4): prompts and closed forms. float64.

Tokens are N(0, Lambda) with Lambda = Q D Q^T and eigenvalues lambda_1 >= ... >= lambda_d. A model
answers ``w^T x_q`` of n examples ``(x_i, w^T x_i + noise)`` by ``h^T A x_q``, where
``h = (1 / n) sum y_i x_i`` and A = u U is its key-query matrix.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Generator, Tensor

DTYPE = torch.float64


class Prompts(NamedTuple):
    """Prompts (..., B) of n examples each."""

    x: Tensor  #: (..., B, n, d)
    y: Tensor  #: (..., B, n)
    query: Tensor  #: (..., B, d)
    target: Tensor  #: (..., B), w^T x_q, without noise
    w: Tensor  #: (..., B, d)

    @property
    def tokens(self) -> Tensor:
        """The matrix E, (..., B, d + 1, n + 1): a column an example, the query last."""
        examples = torch.cat([self.x, self.y[..., None]], -1)
        query = torch.cat([self.query, torch.zeros_like(self.query[..., :1])], -1)
        return torch.cat([examples, query[..., None, :]], -2).mT

    @property
    def mean(self) -> Tensor:
        """h = (1 / n) sum y_i x_i, (..., B, d)."""
        return (self.y[..., None, :] @ self.x).squeeze(-2) / self.x.shape[-2]


def eigenvalues(dimension: int, largest: float, ratio: float) -> Tensor:
    """``largest * ratio^(i - 1)``, descending, (d,)."""
    return largest * ratio ** torch.arange(dimension, dtype=DTYPE)


def rotation(dimension: int, stream: Generator) -> Tensor:
    """A random orthonormal Q (d, d), its columns the eigenvectors."""
    drawn = torch.randn(dimension, dimension, generator=stream, dtype=DTYPE)
    q, r = torch.linalg.qr(drawn)
    return q * r.diagonal().sign()


def draw(
    values: Tensor, basis: Tensor, count: int, examples: int, streams: Sequence[Generator], *,
    w: Tensor | None = None, sigma: float = 0.0, dtype: torch.dtype = DTYPE,
) -> Prompts:  # fmt: skip
    """``count`` prompts of each stream, (R, B, ...); w is N(0, I) a prompt where none is given.

    ``values``, ``basis``: eigenvalues (d,) and Q (d, d). ``w``: (d,), the same for all prompts.
    ``sigma``: deviation of the noise on labels of examples.
    """
    root = (values.sqrt()[:, None] * basis.T).to(dtype)
    d = len(values)
    found = []
    for stream in streams:
        normal = torch.randn(count, examples + 1, d, generator=stream, dtype=dtype) @ root
        own = (torch.randn(count, d, generator=stream, dtype=dtype) if w is None
               else w.to(dtype).expand(count, d))  # fmt: skip
        answers = (normal @ own[..., None]).squeeze(-1)
        labels = answers[:, :-1]
        if sigma:
            labels = labels + sigma * torch.randn(count, examples, generator=stream, dtype=dtype)
        found.append((normal[:, :-1], labels, normal[:, -1], answers[:, -1], own))
    return Prompts(*(torch.stack(part) for part in zip(*found, strict=True)))


def gamma(covariance: Tensor, examples: int) -> Tensor:
    """Gamma = (1 + 1 / N) Lambda + (tr Lambda / N) I (Lemma 5.1)."""
    d = len(covariance)
    trace = covariance.trace() / examples
    return (1 + 1 / examples) * covariance + trace * torch.eye(d, dtype=covariance.dtype)


def loss(a: Tensor, covariance: Tensor, examples: int) -> Tensor:
    """Population loss 1/2 E(answer - w^T x_q)^2 of matrices A = u U (..., d, d) (Lemma 5.1)."""
    quadratic = gamma(covariance, examples) @ covariance @ a @ covariance @ a.mT / 2
    linear = covariance @ covariance @ a.mT
    return (quadratic - linear).diagonal(dim1=-2, dim2=-1).sum(-1) + covariance.trace() / 2


def shares(values: Tensor, examples: int) -> Tensor:
    """v_i* = N / ((N + 1) lambda_i + tr D), (d,) (Theorem 5.4.1)."""
    return examples / ((examples + 1) * values + values.sum())


def optimum(values: Tensor, basis: Tensor, rank: int, examples: int) -> Tensor:
    """The best A of a rank, Q diag(v*) Q^T with the first r of them (Theorem 5.4.1)."""
    kept = shares(values, examples) * (torch.arange(len(values)) < rank)
    return basis * kept @ basis.T


def least_loss(values: Tensor, rank: int, examples: int) -> Tensor:
    """Loss of :func:`optimum`: tr D / 2 - 1/2 sum_{i <= r} lambda_i^2 / T_i."""
    each = values.square() * shares(values, examples)
    return (values.sum() - each[:rank].sum()) / 2


class Pieces(NamedTuple):
    """Of the evaluation loss, (...)."""

    bias: Tensor  #: what directions left out, and shrinkage, cost without noise
    inputs: Tensor  #: finite-sample noise of the examples
    labels: Tensor  #: noise of their labels

    @property
    def total(self) -> Tensor:
        return self.bias + self.inputs + self.labels


def evaluation(
    values: Tensor, w: Tensor, rank: int, pretrained: int, examples: int, sigma: float
) -> Pieces:
    """Loss of the optimal rank-r model on one task (Theorem 5.4.2), without the factor 1/2.

    ``w``: Q^T w = s + xi, (d,). ``pretrained``: N. ``examples``: M of the evaluation.
    """
    kept = torch.arange(len(values)) < rank
    a = values * shares(values, pretrained) * kept
    power = values * w.square()
    inputs = (power * a.square()).sum() + power.sum() * a.square().sum()
    bias = (power * (1 - a).square()).sum()
    return Pieces(bias, inputs / examples, sigma**2 * a.square().sum() / examples)


def evaluation_of(a: Tensor, covariance: Tensor, w: Tensor, examples: int, sigma: float) -> Tensor:
    """The same of any A (..., d, d), by the moments of h (Lemma D.2, corrected)."""
    mean = covariance @ w
    outer = mean[:, None] * mean
    noise = (sigma**2 + w @ mean) * covariance + outer
    second = outer + noise / examples
    inner = a.mT @ second @ a - 2 * a.mT @ (mean[:, None] * w) + w[:, None] * w
    return (inner @ covariance).diagonal(dim1=-2, dim2=-1).sum(-1)
