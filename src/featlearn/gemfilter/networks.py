"""What the methods need of a decoder, and two kinds that give it: ours and those of `transformers`.

Shapes: S sequences, n tokens, h and g heads of queries and of keys, d numbers a head. Queries and
keys come turned to their places. Logits are of the last token only.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import torch
from torch import Tensor

from featlearn.core.errors import FeatlearnError
from featlearn.transformers.attention import softmax_attention
from featlearn.transformers.decoder import Decoder


class Network(ABC):
    """A decoder, layer by layer.

    ``layers``, ``heads``, ``shared``, ``head_width``: m, h, g and d. ``scale``: of the products of
    queries and keys in attention.
    """

    layers: int
    heads: int
    shared: int
    head_width: int
    scale: float

    @abstractmethod
    def embed(self, tokens: Tensor, first: int = 0) -> Tensor:
        """What the first layer gets of tokens (S, n) at the places from ``first`` on."""

    @abstractmethod
    def project(
        self, layer: int, x: Tensor, first: int = 0, last: int | None = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Queries (S, h, n, d), of the ``last`` tokens only if so many are named; keys, values."""

    @abstractmethod
    def finish(self, layer: int, x: Tensor, mixed: Tensor) -> Tensor:
        """A layer's output of its input and of what its heads read, both of the same tokens."""

    @abstractmethod
    def logits(self, x: Tensor) -> Tensor:
        """Of the last token: (S, V)."""

    @abstractmethod
    def bytes_of(self, layer: int) -> int:
        """Memory of the weights of a layer (w)."""

    def attend(self, layer: int, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """What the heads of a layer read, (S, h, n, d)."""
        return softmax_attention(q, k, v, scale=self.scale)


class Ours(Network):
    """A :class:`Decoder`, whose R replicates read the R equal parts of the S sequences."""

    def __init__(self, decoder: Decoder):
        shape = decoder.shape
        self.decoder = decoder
        self.layers, self.heads, self.shared = shape.layers, shape.heads, shape.shared
        self.head_width, self.scale = shape.head_width, shape.head_width**-0.5

    def embed(self, tokens: Tensor, first: int = 0) -> Tensor:
        replicates = self.decoder.replicates
        return self.decoder.embed(tokens.view(replicates, -1, tokens.shape[-1]), first)

    def project(
        self, layer: int, x: Tensor, first: int = 0, last: int | None = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        return self.decoder.project(layer, x, first, last)

    def finish(self, layer: int, x: Tensor, mixed: Tensor) -> Tensor:
        return self.decoder.finish(layer, x, mixed)

    def logits(self, x: Tensor) -> Tensor:
        return self.decoder.logits(x[..., -1:, :])[..., 0, :].flatten(0, 1)

    def bytes_of(self, layer: int) -> int:
        own = (w for name, w in self.decoder.weights.items() if name.startswith(f"{layer}/"))
        return sum(w.numel() * w.element_size() for w in own)


class OfTransformers(Network):
    """A causal model of `transformers` whose layers are laid out as those of Llama or Phi 3.

    ``model``: as :func:`featlearn.transformers.folder.load` gives it. ``name``: for words. Raises
    FeatlearnError if a part is missing or unknown, by name.
    """

    def __init__(self, model: Any, name: str = "model"):
        self.model, self.name, config = model, name, model.config
        core = getattr(model, "model", None)
        for part in ("embed_tokens", "layers", "norm", "rotary_emb"):
            if not hasattr(core, part):
                raise FeatlearnError(
                    f"{name}: a {type(model).__name__} has no model.{part}; expected the layout of "
                    "Llama, Mistral or Phi 3"
                )
        self.core: Any = core
        first: Any = core.layers[0].self_attn  # type: ignore[union-attr]
        fused = hasattr(first, "qkv_proj")
        for part in (("qkv_proj",) if fused else ("q_proj", "k_proj", "v_proj")) + ("o_proj",):
            if not hasattr(first, part):
                raise FeatlearnError(f"{name}: its attention has no {part}; as of Llama or Phi 3")
        if hasattr(first, "q_norm"):
            raise FeatlearnError(f"{name}: norms of queries and keys; expected none, as in Llama")
        self.fused = fused
        self.layers, self.heads = config.num_hidden_layers, config.num_attention_heads
        self.shared, self.head_width = config.num_key_value_heads, first.head_dim
        self.scale = first.scaling
        self.window = getattr(config, "sliding_window", None)

    def embed(self, tokens: Tensor, first: int = 0) -> Tensor:
        if self.window and first + tokens.shape[1] > self.window:
            raise FeatlearnError(
                f"{self.name}: {first + tokens.shape[1]} tokens; its attention sees the last "
                f"{self.window} only, expected a shorter prompt"
            )
        found: Tensor = self.core.embed_tokens(tokens)
        return found

    def project(
        self, layer: int, x: Tensor, first: int = 0, last: int | None = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        block, d, n = self.core.layers[layer], self.head_width, x.shape[1]
        normed = block.input_layernorm(x)
        if self.fused:
            sizes = [self.heads * d, self.shared * d, self.shared * d]
            q, k, v = block.self_attn.qkv_proj(normed).split(sizes, -1)
            q = q if last is None else q[:, -last:]
        else:
            own = normed if last is None else normed[:, -last:]
            q, k, v = (getattr(block.self_attn, f"{part}_proj")(rows)
                       for part, rows in (("q", own), ("k", normed), ("v", normed)))  # fmt: skip
        q, k, v = (rows.view(*rows.shape[:2], -1, d).transpose(1, 2) for rows in (q, k, v))
        places = torch.arange(first, first + n, device=x.device)[None]
        cos, sin = self.core.rotary_emb(x, position_ids=places)
        rows = q.shape[2]
        return _turned(q, cos[:, -rows:], sin[:, -rows:]), _turned(k, cos, sin), v

    def finish(self, layer: int, x: Tensor, mixed: Tensor) -> Tensor:
        block = self.core.layers[layer]
        x = x + block.self_attn.o_proj(mixed.transpose(1, 2).flatten(2))
        found: Tensor = x + block.mlp(block.post_attention_layernorm(x))
        return found

    def logits(self, x: Tensor) -> Tensor:
        found: Tensor = self.model.lm_head(self.core.norm(x[:, -1]))
        return found

    def bytes_of(self, layer: int) -> int:
        return sum(w.numel() * w.element_size() for w in self.core.layers[layer].parameters())


def _turned(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotary positions as in `transformers`, of the first numbers of a head where not of all."""
    own, rest = x[..., : cos.shape[-1]], x[..., cos.shape[-1] :]
    first, second = own.chunk(2, -1)
    turned = own * cos[:, None] + torch.cat([-second, first], -1) * sin[:, None]
    return torch.cat([turned, rest], -1)
