"""Linear centred kernel alignment (Kornblith et al. 2019)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations_with_replacement

import torch
from torch import Tensor


def alike(features: Sequence[Tensor]) -> Tensor:
    """CKA of features (n, width) of several models on the same samples, biased: (models, models).

    ``|X^T Y|^2 / (|X^T X| |Y^T Y|)`` of centred X and Y, which are never formed.
    """
    wide = [own.double() for own in features]
    inner = torch.zeros(len(wide), len(wide), dtype=torch.float64)
    for (i, x), (j, y) in combinations_with_replacement(enumerate(wide), 2):
        product = x.T @ y - torch.outer(x.sum(0), y.sum(0)) / len(x)
        inner[i, j] = inner[j, i] = product.square().sum()
    size = inner.diagonal().sqrt()
    return inner / size / size[:, None]


def debiased(x: Tensor, y: Tensor) -> float:
    """CKA from unbiased estimates of HSIC (Song et al. 2012), of features (n, width), n > 3."""
    count = len(x)

    def estimate(a: Tensor, b: Tensor) -> Tensor:
        # Gram matrices without their diagonals are never formed: features are narrow
        da, db = a.square().sum(1), b.square().sum(1)
        rows_a, rows_b = a @ a.sum(0) - da, b @ b.sum(0) - db
        trace = (a.T @ b).square().sum() - (da * db).sum()
        rest = rows_a.sum() * rows_b.sum() / ((count - 1) * (count - 2))
        both = trace + rest - 2 / (count - 2) * (rows_a * rows_b).sum()
        return both / (count * (count - 3))

    x, y = (z.double() - z.double().mean(0) for z in (x, y))
    return float(estimate(x, y) / (estimate(x, x) * estimate(y, y)).sqrt())
