"""One layer of attention and nothing else, on the numbers themselves (Figures 4.3, C.5, C.6).

With E the words in columns, head h reads the keys that its map favours and says what they carry::

    S_h = E^T W_h^K W_h^Q^T E        p x p, keys in rows        (the thesis' W^KQ in token space)
    f(a) = sum_h sum_i sum_j softmax_j(S_h[a_j, a_i]) V_h[a_j],      V_h = E^T W_h^V W_h^P

All k numbers are queries; there are no positions, so that the answer does not depend on their
order. As only p words exist, maps and what they carry are computed once and looked up.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from featlearn.core.training.losses import cross_entropies
from featlearn.fourier.data import labels
from featlearn.transformers.decoder import Weights


def start(
    p: int, width: int, heads: int, head_width: int, streams: Sequence[torch.Generator]
) -> dict[str, Tensor]:
    """Random weights of a network for each stream, N(0, 1 / in). ``words`` (R, p, D), ``key``,
    ``query`` and ``value`` (R, D, h d), ``out`` (R, h d, p)."""
    across = heads * head_width
    sizes = {"words": (p, width), "key": (width, across), "query": (width, across),
             "value": (width, across), "out": (across, p)}  # fmt: skip
    return {name: torch.stack([torch.randn(size, generator=stream) for stream in streams])
            * (width if name == "words" else size[0]) ** -0.5
            for name, size in sizes.items()}  # fmt: skip


def maps(weights: Weights, head_width: int) -> Tensor:
    """S_h of all heads, (R, h, p keys, p queries)."""
    keys, queries = (_heads(weights["words"] @ weights[name], head_width) for name in
                     ("key", "query"))  # fmt: skip
    return keys @ queries.mT


def logits(weights: Weights, a: Tensor, head_width: int) -> Tensor:
    """f of inputs (R, B, k) or, the same for all, (B, k): (R, B, p)."""
    scores = maps(weights, head_width)
    replicates, heads, p, _ = scores.shape
    own = a.expand(replicates, -1, -1).permute(2, 0, 1)  # (k, R, B)
    # a row of heads for each pair of words, so that looking up copies rows
    table = scores.permute(0, 2, 3, 1).reshape(-1, heads)
    first = torch.arange(replicates, device=a.device)[:, None] * p
    pairs = (first + own)[:, None] * p + own
    # (k keys, k queries, R, B, h), summed over the queries: axes in front are the cheap ones
    read = table.index_select(0, pairs.flatten()).view(*pairs.shape, heads).softmax(0).sum(1)
    # how much of each word each head reads: (R, B, p, h)
    count = own.shape[1:]
    at = torch.arange(count.numel(), device=a.device).view(count) * p + own
    words = read.new_zeros(count.numel() * p, heads).index_add(0, at.flatten(), read.flatten(0, 2))
    carried = _heads(weights["words"] @ weights["value"], head_width) @ weights["out"].view(
        replicates, heads, head_width, p
    )
    rows = carried.permute(0, 3, 2, 1).reshape(replicates, p, p * heads)
    said: Tensor = _FewRows.apply(rows, words.view(*count, p * heads))  # type: ignore[no-untyped-call]
    return said.mT


class _FewRows(torch.autograd.Function):
    """A B^T of A (R, p, E) and B (R, n, E) with few p; PyTorch's products with few columns are half
    as fast.
    """

    @staticmethod
    def forward(ctx: Any, a: Tensor, b: Tensor) -> Tensor:
        ctx.save_for_backward(a, b)
        return a @ b.mT

    @staticmethod
    def backward(ctx: Any, slope: Tensor) -> tuple[Tensor, Tensor]:
        a, b = ctx.saved_tensors
        return slope @ b, slope.mT @ a


def losses(weights: Weights, a: Tensor, head_width: int) -> Tensor:
    """Mean cross-entropy (R,) of inputs (R, B, k)."""
    found = logits(weights, a, head_width)
    return cross_entropies(found, labels(a, found.shape[2])).mean(1)


def _heads(x: Tensor, head_width: int) -> Tensor:
    """(R, p, h d) to (R, h, p, d)."""
    return x.view(*x.shape[:2], -1, head_width).transpose(1, 2)


class Waves(NamedTuple):
    """What maps (..., p, p) are, as waves over both of their axes."""

    power: Tensor  #: (..., p, p // 2 + 1) shares; frequencies of keys, then those >= 0 of queries
    key: Tensor  #: (...) frequency of the strongest wave along the keys, 1 .. p // 2, without sign
    query: Tensor  #: (...) and along the queries
    peak: Tensor  #: (...) share of that wave alone
    pair: Tensor  #: (...) with its mirror image, which runs the other way along the keys
    best: Tensor  #: (...) share of the best frequency of keys, over all queries
    two: Tensor  #: (...) share of that one with its two best frequencies of queries
    rule: Tensor  #: (...) bool: whether these two add or subtract to the keys' (mod p)


def waves(scores: Tensor) -> Waves:
    """Waves of maps with keys in rows and queries in columns, p odd, less each query's mean over
    keys (the softmax ignores it).

    To first order in the softmax k inputs multiply k - 2 query factors: with four numbers two query
    frequencies make the keys'. A wave and its conjugate are one: cos(2 pi (z1 i + z2 j) / p). A
    product of two cosines is a wave and its mirror image, each with half of the power.
    """
    own = scores - scores.mean(-2, keepdim=True)
    power = torch.fft.rfft2(own).abs().square()
    power[..., 1:] *= 2
    # waves along the keys alone are there twice, with either sign
    p = scores.shape[-1]
    half = torch.arange(p, device=scores.device) > p // 2
    power[..., half, 0] = 0
    power[..., ~half, 0] *= 2
    power = power / power.sum((-2, -1), keepdim=True)
    peak, place = power.flatten(-2).max(-1)
    key, query = place // power.shape[-1], place % power.shape[-1]
    mirrored = (-key % p) * power.shape[-1] + query
    mirror = power.flatten(-2).gather(-1, mirrored[..., None]).squeeze(-1)
    # of a wave along the keys alone the mirror image is itself
    pair = peak + torch.where(query > 0, mirror, 0.0)
    folded = power[..., 1 : p // 2 + 1, :] + power[..., p // 2 + 1 :, :].flip(-2)
    best, at = folded.sum(-1).max(-1)
    row = folded.gather(-2, at[..., None, None].expand(*at.shape, 1, folded.shape[-1])).squeeze(-2)
    two, queries = row.topk(2, -1)
    one, other = queries.unbind(-1)
    added = torch.minimum(one + other, p - one - other)
    rule = (added == at + 1) | ((one - other).abs() == at + 1)
    return Waves(power, torch.minimum(key, p - key), query, peak, pair, best, two.sum(-1), rule)
