"""Rotary positions (Su et al. 2021): queries and keys turn with the place of their token.

The d numbers of a head are d / 2 planes, number i with number i + d / 2, as in Llama. Plane i turns
by base^(-2 i / d) a token, so that a product of query and key depends on their distance alone.
"""

from __future__ import annotations

import torch
from torch import Tensor


def rotary_table(length: int, d: int, base: float = 10_000.0) -> Tensor:
    """Cosines and sines of the places 0 .. length - 1 for each number, (2, length, d), float64.

    Sines of the first half are negative: each number adds its sine times the other of its plane.
    """
    rates = base ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    angles = torch.arange(length, dtype=torch.float64)[:, None] * rates
    cos, sin = angles.cos(), angles.sin()
    return torch.stack([torch.cat([cos, cos], 1), torch.cat([-sin, sin], 1)])


def rotated(x: Tensor, table: Tensor) -> Tensor:
    """Queries or keys (..., n, d) turned to the places of ``table`` (2, n, d)."""
    cos, sin = table
    return x * cos + x.roll(x.shape[-1] // 2, -1) * sin
