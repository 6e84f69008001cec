"""A decoder-only transformer, R of them at once: pre-norm blocks over named weights.

    x <- x + attention(norm(x))        x <- x + mlp(norm(x))

Layer norm, ReLU or GELU and learned positions make a GPT; root mean squares, SwiGLU and rotary
positions make a Llama. No layer has a bias but the layer norms.

Shapes: R replicates, B sequences, n tokens, D width, h and g heads of queries and of keys, d
numbers a head, F hidden, V words. Weights multiply from the right, so are (R, in, out).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor

from featlearn.transformers.attention import softmax_attention
from featlearn.transformers.cache import Cache
from featlearn.transformers.positions import rotary_table, rotated

#: Named weights, each with a leading replicate axis.
Weights = Mapping[str, Tensor]


@dataclass(frozen=True)
class Shape:
    """Sizes and kind of a decoder.

    ``words``, ``outputs``: tokens that are read, and that are told apart at the end; the same if
    left out. ``width``, ``layers``, ``heads``, ``head_width``, ``hidden``: D, number of blocks, h,
    d and F. h d need not be D. ``key_value_heads``: g, a divisor of h; h if left out. ``length``:
    most tokens, with learned positions; 0 for rotary ones, of ``base``. ``norm``, ``activation``:
    ``layer`` or ``rms``; ``relu``, ``gelu`` or ``swiglu``. ``epsilon``: of the norms.
    """

    words: int
    width: int
    layers: int
    heads: int
    head_width: int
    hidden: int
    outputs: int = 0
    key_value_heads: int = 0
    length: int = 0
    base: float = 10_000.0
    norm: Literal["layer", "rms"] = "layer"
    activation: Literal["relu", "gelu", "swiglu"] = "relu"
    epsilon: float = 1e-5

    def __post_init__(self) -> None:
        if self.heads % self.shared:
            raise ValueError(
                f"key_value_heads: {self.shared}; expected a divisor of the {self.heads} heads"
            )
        if not self.length and self.head_width % 2:
            raise ValueError(f"head_width: {self.head_width}; rotary positions need an even number")

    @property
    def shared(self) -> int:
        """Heads of keys and values (g)."""
        return self.key_value_heads or self.heads

    def weights(self) -> dict[str, tuple[int, ...]]:
        """Shapes of all weights by name, without the replicate axis."""
        D, d = self.width, self.head_width
        norm = {"gain": (D,)} | ({"bias": (D,)} if self.norm == "layer" else {})
        found: dict[str, tuple[int, ...]] = {"words": (self.words, D)}
        if self.length:
            found["positions"] = (self.length, D)
        for layer in range(self.layers):
            parts = {
                **{f"attention_{key}": value for key, value in norm.items()},
                "qkv": (D, (self.heads + 2 * self.shared) * d),
                "out": (self.heads * d, D),
                **{f"mlp_{key}": value for key, value in norm.items()},
                # of SwiGLU the gates, then what they let through
                "up": (D, (2 if self.activation == "swiglu" else 1) * self.hidden),
                "down": (self.hidden, D),
            }
            found |= {f"{layer}/{name}": size for name, size in parts.items()}
        found |= {f"final_{key}": value for key, value in norm.items()}
        return found | {"unembed": (D, self.outputs or self.words)}


def start(shape: Shape, streams: Sequence[torch.Generator]) -> dict[str, Tensor]:
    """Float32 weights a stream: N(0, 1 / in), words, positions N(0, 1 / D), gains 1, biases 0."""
    found = {}
    for name, size in shape.weights().items():
        if name.endswith("gain"):
            found[name] = torch.ones(len(streams), *size)
        elif name.endswith("bias"):
            found[name] = torch.zeros(len(streams), *size)
        else:
            fan_in = shape.width if name in ("words", "positions") else size[0]
            drawn = [torch.randn(size, generator=stream) for stream in streams]
            found[name] = torch.stack(drawn) * fan_in**-0.5
    return found


class Decoder:
    """R decoders of one shape; ``weights`` by the names of :meth:`Shape.weights`."""

    def __init__(self, shape: Shape, weights: Weights):
        self.shape, self.weights = shape, weights
        self.replicates = len(weights["words"])
        self._table: Tensor | None = None  # (2, places, d)

    def __call__(
        self, tokens: Tensor, *, last: int | None = None, cache: Cache | None = None
    ) -> Tensor:
        """Logits of the token after each of ``tokens`` (R, B, n): (R, B, n, V).

        ``last``: only of so many tokens at the end; the last block then computes no others.
        ``cache``: what was seen before; it takes these tokens in.
        """
        first = cache.position if cache else 0
        x = self.embed(tokens, first)
        for layer in range(self.shape.layers):
            of_last = last if layer == self.shape.layers - 1 else None
            x = self.block(layer, x, first, cache, of_last)
        if cache:
            cache.position += tokens.shape[2]
        return self.logits(x)

    def embed(self, tokens: Tensor, first: int = 0) -> Tensor:
        """Words and learned positions of ``tokens`` (R, B, n) from place ``first`` on."""
        table = self.weights["words"]
        if self.replicates > 1:  # one table of all, a replicate's words behind the other's
            offset = torch.arange(self.replicates, device=tokens.device) * self.shape.words
            tokens = tokens + offset[:, None, None]
        x = F.embedding(tokens, table.flatten(0, 1))
        if self.shape.length:
            n = tokens.shape[2]
            if first + n > self.shape.length:
                raise ValueError(f"{first + n} tokens; expected at most {self.shape.length}")
            x = x + self.weights["positions"][:, None, first : first + n]
        return x

    def block(
        self,
        layer: int,
        x: Tensor,
        first: int = 0,
        cache: Cache | None = None,
        last: int | None = None,
    ) -> Tensor:
        """One block: tokens (R, B, n, D) at the places from ``first`` on, to the same shape."""
        q, k, v = self.project(layer, x, first, last)
        if cache:
            k, v = cache.extend(layer, k, v)
        return self.finish(layer, _end(x, last), softmax_attention(q, k, v))

    def project(
        self, layer: int, x: Tensor, first: int = 0, last: int | None = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Queries (R B, h, n, d), keys and values (R B, g, n, d); the first two at their places."""
        h, g, d = self.shape.heads, self.shape.shared, self.shape.head_width
        weight, norm = self.weights[f"{layer}/qkv"], f"{layer}/attention"
        if last is None:
            q, k, v = torch.split(_heads(self.product(x, norm, weight), d), [h, g, g], 1)
        else:
            q = _heads(self.product(_end(x, last), norm, weight[..., : h * d]), d)
            k, v = _heads(self.product(x, norm, weight[..., h * d :]), d).chunk(2, 1)
        if not self.shape.length:
            table = self._places(first, x)
            q, k = rotated(q, _end(table, last)), rotated(k, table)
        return q, k, v

    def finish(self, layer: int, x: Tensor, mixed: Tensor) -> Tensor:
        """What a block makes of its input (R, B, n, D) and what its heads read (R B, h, n, d)."""
        rows = mixed.transpose(1, 2).flatten(2).view(self.replicates, x.shape[1] * x.shape[2], -1)
        x = _plus_product(x, rows, self.weights[f"{layer}/out"])
        hidden = self.product(x, f"{layer}/mlp", self.weights[f"{layer}/up"]).flatten(1, 2)
        if self.shape.activation == "swiglu":
            gate, up = hidden.chunk(2, -1)
            hidden = F.silu(gate) * up
        else:
            hidden = F.relu(hidden) if self.shape.activation == "relu" else F.gelu(hidden)
        return _plus_product(x, hidden, self.weights[f"{layer}/down"])

    def logits(self, x: Tensor) -> Tensor:
        """Final norm and unembedding: (R, B, n, D) to (R, B, n, V)."""
        return self.product(x, "final", self.weights["unembed"])

    def product(self, x: Tensor, norm: str, weight: Tensor) -> Tensor:
        """norm(x) W, (R, B, n, D) to (R, B, n, E)."""
        rows = x.flatten(1, 2)
        gain = self.weights[f"{norm}_gain"]
        if self.shape.norm == "layer":
            rows = F.layer_norm(rows, rows.shape[-1:], eps=self.shape.epsilon)
        else:
            rows = F.rms_norm(rows, rows.shape[-1:], eps=self.shape.epsilon)
        # (norm(x) * gain + bias) W = norm(x) (gain W) + bias W: the smaller tensor is multiplied
        if rows.shape[1] < weight.shape[2]:
            rows, scaled = rows * gain[:, None], weight
        else:
            scaled = gain[..., None] * weight
        if self.shape.norm == "layer":
            done = torch.baddbmm(self.weights[f"{norm}_bias"][:, None] @ weight, rows, scaled)
        else:
            done = rows @ scaled
        return done.view(*x.shape[:3], -1)

    def _places(self, first: int, x: Tensor) -> Tensor:
        """The rotary table of so many places as ``x`` has tokens, from ``first`` on."""
        end = first + x.shape[2]
        if self._table is None or self._table.shape[1] < end:
            # as many again, for the tokens that are decoded one by one
            table = rotary_table(2 * end, self.shape.head_width, self.shape.base)
            self._table = table.to(x.device, x.dtype)
        return self._table[:, first:end]


def _end(x: Tensor, last: int | None) -> Tensor:
    """The last tokens of (..., n, D); all if ``last`` is None."""
    return x if last is None else x[..., -last:, :]


def _heads(x: Tensor, d: int) -> Tensor:
    """(R, B, n, heads d) to (R B, heads, n, d)."""
    return x.view(-1, x.shape[2], x.shape[3] // d, d).transpose(1, 2)


def _plus_product(x: Tensor, rows: Tensor, weight: Tensor) -> Tensor:
    """x + rows W, of x (R, B, n, D) and rows (R, B n, E), in one pass."""
    return torch.baddbmm(x.flatten(1, 2), rows, weight).view_as(x)
