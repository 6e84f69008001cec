"""Gaussians at the corners of a hypercube, labelled by the parity of the signs (A.7.4)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Hypercube:
    """Gaussians at the corners of a cube, labelled by the parity of the signs (eq. A.288).

    Parameters
    ----------
    dimension, relevant
        d and k: 2^k clusters.
    noise
        sigma_r; a coordinate has the standard deviation ``sigma_r sqrt(k / d)``.
    """

    dimension: int
    relevant: int
    noise: float

    @property
    def noise_std(self) -> float:
        """Of a coordinate, and of the noise along each pattern."""
        return self.noise * math.sqrt(self.relevant / self.dimension)

    def signs(self) -> Tensor:
        """(2^k, k) the corners, +1 and -1."""
        bits = torch.cartesian_prod(*[torch.tensor([-1.0, 1.0])] * self.relevant)
        return bits.reshape(-1, self.relevant)

    def sample(
        self, columns: Tensor, number: int, stream: torch.Generator
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Inputs (n, d), labels (n,), and which corner of :meth:`signs` (n,).

        ``columns`` (d, k) are the patterns, of :func:`dictionary`.
        """
        corners = self.signs().to(columns.dtype)
        cluster = torch.randint(len(corners), (number,), generator=stream)
        noise = torch.randn(number, self.dimension, generator=stream, dtype=columns.dtype)
        signs = corners[cluster]
        return signs @ columns.T + self.noise_std * noise, signs.prod(1), cluster

    def error_bound(self) -> float:
        """Upper bound of the Bayes error: ``k`` times the chance that one sign is turned over."""
        return self.relevant * 0.5 * math.erfc(1 / self.noise_std / math.sqrt(2))
