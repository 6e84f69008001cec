"""Prompts of the vector generation task (chapter 8, Definitions 8.2 to 8.5) and their spectra.

A prompt is n examples ``(x_i, <x_i, theta*>)``, without noise, and a query ``alpha``; wanted is a
vector q with ``<q, theta*> = alpha``. Its least squares problem has the Hessian ``H = X^T X``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Generator, Tensor

DTYPE = torch.float64


class Prompts(NamedTuple):
    """Prompts of one number of examples; (..., n, d) and so on, each from its own stream."""

    x: Tensor  #: (..., n, d)
    theta: Tensor  #: (..., d), on the unit sphere; hidden from the model
    alpha: Tensor  #: (...), the query, not 0
    q: Tensor  #: (..., d), the start q^(0)

    @property
    def y(self) -> Tensor:
        """Labels (..., n)."""
        return (self.x @ self.theta[..., None]).squeeze(-1)

    @property
    def tokens(self) -> Tensor:
        """Z^(0) of Definition 8.5, (..., n + 1, d + 1): the query is the last row."""
        examples = torch.cat([self.x, self.y[..., None]], -1)
        query = torch.cat([self.q, self.alpha[..., None]], -1)
        return torch.cat([examples, query[..., None, :]], -2)

    @property
    def hessian(self) -> Tensor:
        """X^T X, (..., d, d)."""
        return self.x.mT @ self.x


def draw(examples: int, dimension: int, streams: Sequence[Generator], draws: int = 1) -> Prompts:
    """Gaussian prompts with ``q^(0) = 0`` and \\|alpha\\| between 1/2 and 2, of either sign.
    Returns Prompts: (R,), one a stream; (R, draws) with more than one draw."""

    lead = () if draws == 1 else (draws,)
    x, theta, uniform = (
        torch.stack([
            sample((*lead, *shape), generator=stream, dtype=DTYPE) for stream in streams
        ])
        for sample, shape in (
            (torch.randn, (examples, dimension)), (torch.randn, (dimension,)), (torch.rand, ()),
        )
    )  # fmt: skip
    alpha = 3 * uniform - 1.5
    alpha = alpha + torch.where(alpha < 0, -0.5, 0.5)
    theta = theta / theta.norm(dim=-1, keepdim=True)
    return Prompts(x, theta, alpha, torch.zeros_like(theta))


class Spectrum(NamedTuple):
    """What gradient descent on a prompt depends on."""

    w: Tensor  #: (..., d), eigenvalues of X^T X, ascending
    c: Tensor  #: (..., d), <e_i, theta^(0) - theta*>^2 of its eigenvectors

    @property
    def smoothness(self) -> Tensor:
        """L = lambda_max (Lemma 8.20)."""
        return self.w[..., -1]

    @property
    def convexity(self) -> Tensor:
        """mu = lambda_min (Lemma 8.22)."""
        return self.w[..., 0]

    @property
    def kappa(self) -> Tensor:
        """Condition number of X^T X (Definition 8.12), the square of that of X."""
        return self.smoothness / self.convexity


def spectrum(prompts: Prompts) -> Spectrum:
    """Eigenvalues of the Hessian, and the start's error along its eigenvectors."""
    w, vectors = torch.linalg.eigh(prompts.hessian)
    error = -prompts.q / prompts.alpha[..., None] - prompts.theta
    return Spectrum(w, (vectors.mT @ error[..., None]).squeeze(-1).square())


def condition_numbers(
    examples: int, dimension: int, count: int, random: np.random.Generator
) -> np.ndarray:
    """Condition numbers (count,) of X^T X for Gaussian X, by Bartlett's decomposition.

    X^T X has the law of A A^T with A lower triangular, standard Gaussian below the diagonal and
    chi of n, n - 1, ... degrees of freedom on it: the work does not grow with n.
    """
    a = np.tril(random.standard_normal((count, dimension, dimension)), -1)
    diagonal = np.arange(dimension)
    a[:, diagonal, diagonal] = np.sqrt(random.chisquare(examples - diagonal, (count, dimension)))
    values = np.linalg.eigvalsh(a @ a.transpose(0, 2, 1))
    return values[:, -1] / values[:, 0]
