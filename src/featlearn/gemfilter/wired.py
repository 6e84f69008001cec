"""A network of hand-written weights that finds needles: eight layers, no training, no MLP.

The residual stream holds a token's random unit vector, that of the token before, an answer, BOS and
a constant 1. Four heads a layer: ``find``: layer 0 reads the token before (rotary), layers 3 to 5
look, without positions, for what followed the present token, and add it to the answer; ``recent``
favours late tokens, ``sink`` BOS and ``noise`` has random products: these count for the selection
alone. By construction an early layer points at the needle: no evidence on trained networks.
"""

from __future__ import annotations

import torch
from torch import Tensor

from featlearn.core.seeds import generator
from featlearn.gemfilter.needles import BOS
from featlearn.gemfilter.networks import Network
from featlearn.transformers.attention import softmax_attention
from featlearn.transformers.positions import rotary_table, rotated

LAYERS, BEFORE, FIND = 8, 0, (3, 4, 5)
#: Strengths of the products of the heads.
STRONG = {"before": 400.0, "find": 12.0, "recent": 2.5, "sink": 10.0, "noise": 0.05}


class Wired(Network):
    """``words``: of the vocabulary. ``width``: of a token's vector and of a head. ``seed``: name of
    the stream of random vectors.
    """

    def __init__(self, words: int, seed: tuple[object, ...], width: int = 128):
        self.layers, self.heads, self.shared, self.head_width = LAYERS, 4, 4, width
        self.scale = width**-0.5
        stream = generator(*seed)
        table = torch.randn(words, width, generator=stream)
        self.table = table / table.norm(dim=1, keepdim=True)
        self.noise = torch.randn(LAYERS, 2, width, width, generator=stream) * width**-0.5
        half = width // 2
        self.even = torch.zeros(width)
        self.even[:half] = half**-0.5
        self.fast = torch.zeros(width)  # the faster half of the planes
        self.fast[: half // 2] = (half // 2) ** -0.5
        self._table = torch.empty(2, 0, width)

    def embed(self, tokens: Tensor, first: int = 0) -> Tensor:
        """Token, token before, answer, BOS: (S, n, 3 width + 1)."""
        x = self.table[tokens]
        empty = x.new_zeros(*tokens.shape, 2 * self.head_width)
        return torch.cat([x, empty, (tokens == BOS)[..., None].to(x.dtype)], -1)

    def project(
        self, layer: int, x: Tensor, first: int = 0, last: int | None = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        width, root = self.head_width, self.head_width**0.5
        sequences, n = x.shape[:2]
        rows = n if last is None else min(last, n)
        token, before, bos = x[..., :width], x[..., width : 2 * width], x[..., -1:]
        table = self._places(first + n + 1)[:, first:]
        here, at_rows = table[:, :n], table[:, n - rows : n]

        def everywhere(vector: Tensor, places: Tensor) -> Tensor:
            """The same at all places but for their rotation: (S, n, d)."""
            turned = rotated(vector.expand(places.shape[1], width), places)
            return turned.expand(sequences, -1, -1)

        if layer == BEFORE:
            # a key turned one place further on: the query's best match is the token before it
            q = everywhere(STRONG["before"] * root * self.even, at_rows)
            k = everywhere(self.even, table[:, 1 : n + 1])
        elif layer in FIND:
            q, k = STRONG["find"] * root * token[:, -rows:], before
        else:
            q, k = x.new_zeros(sequences, rows, width), x.new_zeros(sequences, n, width)
        queries = [q, everywhere(STRONG["recent"] * root * self.fast, at_rows),
                   (STRONG["sink"] * root * self.even).expand(sequences, rows, width),
                   STRONG["noise"] * width * (token[:, -rows:] @ self.noise[layer, 0])]  # fmt: skip
        keys = [k, everywhere(self.fast, here), bos * self.even, token @ self.noise[layer, 1]]
        values = x.new_zeros(sequences, 4, n, width)
        values[:, 0] = token
        return torch.stack(queries, 1), torch.stack(keys, 1), values

    def _places(self, count: int) -> Tensor:
        """The rotary table of so many places, made once for all layers and tokens."""
        if self._table.shape[1] < count:
            self._table = rotary_table(2 * count, self.head_width).to(self.table.dtype)
        return self._table[:, :count]

    def attend(self, layer: int, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """Of the one head that reads something; empty where none does."""
        if layer != BEFORE and layer not in FIND:
            return q[:, :0]
        return softmax_attention(q[:, :1], k[:, :1], v[:, :1], scale=self.scale)

    def finish(self, layer: int, x: Tensor, mixed: Tensor) -> Tensor:
        if mixed.shape[1] == 0:
            return x
        width = self.head_width
        place = slice(width, 2 * width) if layer == BEFORE else slice(2 * width, 3 * width)
        x = x.clone()
        x[..., place] += mixed[:, 0]
        return x

    def logits(self, x: Tensor) -> Tensor:
        return x[:, -1, 2 * self.head_width : 3 * self.head_width] @ self.table.T

    def bytes_of(self, layer: int) -> int:
        return self.noise[layer].numel() * self.noise.element_size()
