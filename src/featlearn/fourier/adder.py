"""The transformer of Figure 4.4, which reads a_1 ... a_k and the sign = and then says the sum.

Many inputs share what a place holds. Before the first block it is one of p numbers or the sign;
after it place i holds one of p^i prefixes: each word, and where these are fewer than the inputs
each prefix, is computed once. Sums are those of :class:`featlearn.transformers.decoder.Decoder`, in
another order; attention over so few keys is sums over an axis in front, faster than fused kernels.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

import torch
import torch.nn.functional as F
from torch import Tensor

from featlearn.fourier.data import index_of, labels, tuples
from featlearn.transformers.decoder import Decoder, Shape, Weights


def adder(
    k: int, p: int, *, layers: int, width: int, heads: int, head_width: int, hidden: int
) -> Shape:
    """A decoder that reads a_1 ... a_k and the sign =, word number p, and then says the sum."""
    return Shape(
        words=p + 1, outputs=p, length=k + 1, layers=layers, width=width, heads=heads,
        head_width=head_width, hidden=hidden,
    )  # fmt: skip


def held(shape: Shape) -> int:
    """Numbers that :func:`sums_said` holds at once for an input and a network, without gradients.

    An upper bound, as if no prefix were shared: the larger of the first block's and a later one's.
    """
    places, across = shape.length, shape.heads * shape.head_width
    seen = places * (places + 1) // 2
    first = seen * (across + 3 * shape.heads) + (3 * places + 1) * across
    later = (6 * places + 4) * across
    return max(first, later) + places * (4 * shape.width + 2 * shape.hidden) + 3 * shape.outputs


class Prefixes:
    """What is computed at each place for inputs (R, B, k), and where a prefix finds its own.

    ``digits``: of each place the prefixes that are computed, (m, R, N) for those of m numbers: all
    p^m where these are fewer than the inputs, else each input's own; those of the sign come last.
    """

    def __init__(self, a: Tensor, p: int):
        own = a.permute(2, 0, 1)
        self.p, (self.k, replicates, count) = p, own.shape
        self.shared = [p**m < count for m in range(1, self.k + 1)] + [False]
        self.digits = [
            tuples(torch.arange(p**m, device=a.device), m, p).T[:, None].expand(-1, replicates, -1)
            if shared else own[:m]
            for m, shared in enumerate(self.shared[:-1], 1)
        ] + [own]  # fmt: skip
        self.sizes = [one.shape[2] for one in self.digits]
        self._first = torch.arange(replicates, device=a.device)[:, None]

    def words(self, place: int) -> Tensor:
        """Rows of a table (R, kp + 1, ...) that prefixes of a place read, (n, R, N)."""
        read = self.digits[place]
        if place == self.k:  # the sign is the only word of its place
            read = torch.cat([read, torch.zeros_like(read[:1])])
        at = torch.arange(len(read), device=read.device)[:, None, None] * self.p
        return read + at + self._first * (self.k * self.p + 1)

    def rows(self, place: int) -> Tensor:
        """Rows of a table (R, N_1 + N_2 + ..., ...) that hold the prefixes of these, (n, R, N)."""
        digits, found = self.digits[place], []
        own = torch.arange(self.sizes[place], device=digits.device).expand_as(digits[0])
        starts = accumulate(self.sizes, initial=0)
        for earlier, start in zip(range(place + 1), starts, strict=False):
            at = index_of(digits[: earlier + 1].movedim(0, -1), self.p)
            found.append(start + (at if self.shared[earlier] else own))
        return torch.stack(found) + self._first * sum(self.sizes)


def sums_said(shape: Shape, weights: Weights, a: Tensor) -> Tensor:
    """Logits (R, B, p) of inputs (B, k), the same for all, or (R, B, k)."""
    prefixes = Prefixes(a.expand(len(weights["words"]), -1, -1), shape.outputs)
    decoder, h, d = Decoder(shape, weights), shape.heads, shape.head_width
    x = _words(weights, prefixes)
    for layer in range(shape.layers):
        places = range(prefixes.k + 1)
        if layer == shape.layers - 1:  # only what is said at the sign is asked for
            places = places[-1:]
        sizes = [prefixes.sizes[place] for place in places]
        norm, weight = f"{layer}/attention", weights[f"{layer}/qkv"]
        if layer == 0:
            seen = [prefixes.words(place) for place in places]
            q, k, v = torch.split(_product(decoder, x, norm, weight), h * d, -1)
            scores, values = _of_pairs(q, k, seen, h), _looked_up(v, seen)
            x = torch.cat(_looked_up(x, [one[-1:] for one in seen]), 2)[0]
        else:
            seen = [prefixes.rows(place) for place in places]
            kept = _product(decoder, x, norm, weight[..., h * d :])
            x = x[:, -sum(sizes) :]
            q = _product(decoder, x, norm, weight[..., : h * d]) * d**-0.5
            both = [one.chunk(2, -1) for one in _looked_up(kept, seen)]
            keys, values = ([one[part] for one in both] for part in (0, 1))
            scores = [_heads(own * k, h).sum(-1)
                      for own, k in zip(torch.split(q, sizes, 1), keys, strict=True)]  # fmt: skip
        mixed = torch.cat([_mixed(*one) for one in zip(scores, values, strict=True)], 1)
        del scores, values  # the largest; with gradients they are kept all the same
        x = decoder.finish(layer, x[:, :, None], mixed.view(-1, h, 1, d))[:, :, 0]
        del mixed
    return decoder.logits(x[:, :, None])[:, :, 0]


def sum_losses(shape: Shape, weights: Weights, a: Tensor) -> Tensor:
    """Mean cross-entropy (R,) of inputs (R, B, k)."""
    found = sums_said(shape, weights, a)
    y = labels(a, shape.outputs)
    each = F.cross_entropy(found.flatten(0, 1), y.flatten(), reduction="none")
    return each.view(y.shape).mean(1)


def _words(weights: Weights, prefixes: Prefixes) -> Tensor:
    """All words at their places, (R, kp + 1, D): the p numbers at each of k, then the sign."""
    numbers, sign = torch.split(weights["words"], [prefixes.p, 1], 1)
    first, end = torch.split(weights["positions"], [prefixes.k, 1], 1)
    return torch.cat([(numbers[:, None] + first[:, :, None]).flatten(1, 2), sign + end], 1)


def _product(decoder: Decoder, x: Tensor, norm: str, weight: Tensor) -> Tensor:
    """norm(x) W, (R, N, D) to (R, N, E)."""
    return decoder.product(x[:, :, None], norm, weight)[:, :, 0]


def _heads(x: Tensor, heads: int) -> Tensor:
    """(..., h d) to (..., h, d)."""
    return x.view(*x.shape[:-1], heads, x.shape[-1] // heads)


def _of_pairs(q: Tensor, k: Tensor, seen: Sequence[Tensor], heads: int) -> list[Tensor]:
    """Scores (n, R, N, h) of the last of the words that were seen with all of them, looked up."""
    replicates, words, across = q.shape
    q, k = (_heads(one, heads).transpose(1, 2) for one in (q, k))
    scores = (q * (across // heads) ** -0.5) @ k.mT
    # a row of heads for each pair of words; numbers of words have the replicate in them already
    table = scores.permute(0, 2, 3, 1).reshape(replicates, words * words, heads)
    first = torch.arange(replicates, device=q.device)[:, None] * words
    return _looked_up(table, [one[-1:] * words + one - first for one in seen])


def _looked_up(table: Tensor, seen: Sequence[Tensor]) -> list[Tensor]:
    """Rows (n, R, N, E) of a table (R, W, E): all at once, so that its gradient is filled once."""
    # F.embedding gives the same, and its gradient takes longer
    found = table.flatten(0, 1).index_select(0, torch.cat([one.flatten() for one in seen]))
    parts = torch.split(found, [one.numel() for one in seen])
    return [part.view(*one.shape, -1) for part, one in zip(parts, seen, strict=True)]


def _mixed(scores: Tensor, values: Tensor) -> Tensor:
    """Sum over the keys of softmax(scores) (n, R, N, h) times the values (n, R, N, h d)."""
    weights = scores.softmax(0)[..., None]
    return (weights * _heads(values, scores.shape[-1])).sum(0).flatten(2)
