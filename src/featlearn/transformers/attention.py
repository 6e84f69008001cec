"""Attention in three kinds: softmax, linear, and linear under a mask that multiplies.

Shapes: any leading axes, h query heads, g key-value heads (a divisor of h), n queries, m keys, d
numbers a head.
"""

from __future__ import annotations

from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor


def softmax_attention(
    q: Tensor, k: Tensor, v: Tensor, *, causal: bool = True, scale: float | None = None
) -> Tensor:
    """softmax(scale q k^T) v, over the keys that a query may see.

    Returns (B, h, n, d). ``q``: (B, h, n, d). ``k``, ``v``: (B, g, m, d): each is shared by h / g
    neighbouring query heads (Ainslie et al. 2023). ``causal``: the queries are the last n of the m
    tokens, and see none that comes later. ``scale``: 1 / sqrt(d) if left out.
    """
    # the processor's kernel reads shared keys where they lie; CUDA's of float32 wants a copy a head
    if not q.is_cpu:
        k, v = grouped(k, q.shape[1]), grouped(v, q.shape[1])
    attend = partial(F.scaled_dot_product_attention, q, k, v, scale=scale, enable_gqa=q.is_cpu)
    n, m = q.shape[-2], k.shape[-2]
    if not causal or n == 1:
        return attend()
    if n == m:  # without a mask in memory
        return attend(is_causal=True)
    return attend(attn_mask=visible(n, m, q.device))


def attention_weights(
    q: Tensor, k: Tensor, *, causal: bool = True, scale: float | None = None
) -> Tensor:
    """The softmax of :func:`softmax_attention` itself, (B, h, n, m): to be looked at."""
    scores = q @ grouped(k, q.shape[1]).mT * (q.shape[-1] ** -0.5 if scale is None else scale)
    if causal:
        seen = visible(q.shape[-2], k.shape[-2], q.device)
        scores = scores.masked_fill(~seen, -torch.inf)
    return scores.softmax(-1)


def grouped(shared: Tensor, heads: int) -> Tensor:
    """Keys or values (B, g, m, d) as each of ``heads`` query heads sees them, (B, h, m, d)."""
    if shared.shape[1] == heads:
        return shared
    return shared.repeat_interleave(heads // shared.shape[1], 1)


def visible(n: int, m: int, device: torch.device | None = None) -> Tensor:
    """What the last n of m tokens see of all: (n, m), the token itself and those before."""
    return torch.ones(n, m, dtype=torch.bool, device=device).tril(m - n)


def hadamard_attention(z: Tensor, query: Tensor, value: Tensor, mask: Tensor) -> Tensor:
    """(M o (Z Q Z^T)) Z P, where o multiplies entry by entry (thesis, Definition 8.6).

    ``z``: tokens in rows, (..., n, d). ``query``, ``value``: Q and P, (d, d). ``mask``: M, (n, n).
    Returns (..., n, d).
    """
    return (mask * (z @ query @ z.mT)) @ (z @ value)
