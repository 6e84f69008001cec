"""Linear centred kernel alignment (Kornblith et al. 2019) in one pass of bounded memory."""

from __future__ import annotations

import torch
from torch import Tensor


class Similarity:
    """CKA between the features of several models on the same samples, block after block of them.

    Held are sums over samples of features, of their products and of what removes the bias.
    """

    def __init__(self) -> None:
        self._count = 0
        self._sums: list[Tensor] = []
        self._products: dict[tuple[int, int], Tensor] = {}

    def add(self, features: list[Tensor]) -> None:
        """One block of samples, (n, width) of each model, in the same order."""
        features = [block.double() for block in features]
        if not self._sums:
            self._sums = [block.new_zeros(block.shape[1]) for block in features]
        self._count += len(features[0])
        for first, block in enumerate(features):
            self._sums[first] += block.sum(0)
            for second in range(first, len(features)):
                product = block.T @ features[second]
                self._products[first, second] = self._products.get((first, second), 0) + product

    def matrix(self) -> Tensor:
        """(models, models): ``|X^T Y|^2 / (|X^T X| |Y^T Y|)`` of centred features, biased."""
        models = len(self._sums)
        inner = torch.zeros(models, models, dtype=torch.float64)
        for (first, second), product in self._products.items():
            outer = torch.outer(self._sums[first], self._sums[second]) / self._count
            inner[first, second] = inner[second, first] = (product - outer).square().sum()
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
