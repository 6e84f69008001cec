"""Keys and values of the tokens that a decoder has seen, of which any can be kept or dropped.

Keys are held as they were turned to their own place: what is kept after :meth:`Cache.gather` stays
where it was, and the next token comes after all that were ever seen. Without gradients.
"""

from __future__ import annotations

import torch
from torch import Tensor


class Cache:
    """Keys and values of each layer, (B, g, m, d); B sequences, g heads, m tokens.

    ``position``: place of the next token: how many were seen, whatever is still kept.
    """

    def __init__(self, layers: int):
        self.position = 0
        # memory grows by doubling, so that a token more costs no copy of all
        self._held: list[Tensor | None] = [None] * layers  # (2, B, g, room, d)
        self._lengths = [0] * layers

    def copy(self) -> Cache:
        """Another of the same tokens. No memory is copied until one of both takes more in."""
        other = Cache(len(self._held))
        other.position, other._lengths = self.position, list(self._lengths)
        other._held = [
            None if held is None else held[:, :, :, :length]
            for held, length in zip(self._held, self._lengths, strict=True)
        ]
        return other

    def bytes(self) -> int:
        """Memory of what is kept, without the room that is held for more."""
        return sum(
            held[:, :, :, :length].numel() * held.element_size()
            for held, length in zip(self._held, self._lengths, strict=True)
            if held is not None
        )

    def length(self, layer: int = 0) -> int:
        """How many tokens a layer keeps (m)."""
        return self._lengths[layer]

    def heads(self, layer: int = 0) -> int:
        """Of which a layer keeps keys and values (g)."""
        return self.keys_and_values(layer)[0].shape[1]

    def replace(self, layer: int, k: Tensor, v: Tensor) -> None:
        """Keep these, (B, g, m, d), and nothing else; the place of the next token stays."""
        self._held[layer], self._lengths[layer] = torch.stack([k, v]), k.shape[2]

    def keys_and_values(self, layer: int) -> tuple[Tensor, Tensor]:
        """What a layer keeps."""
        held = self._held[layer]
        if held is None:
            raise ValueError(f"layer {layer}: nothing is kept yet; expected a forward pass before")
        k, v = held[:, :, :, : self._lengths[layer]]
        return k, v

    def extend(self, layer: int, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Put those of n more tokens, (B, g, n, d), behind; all of the layer."""
        held, old = self._held[layer], self._lengths[layer]
        new = old + k.shape[2]
        if held is None or held.shape[3] < new:
            batch, heads, _, d = k.shape
            # the prompt as it comes, then room for as much again
            grown = k.new_empty(2, batch, heads, new if held is None else 2 * new, d)
            if held is not None:
                grown[:, :, :, :old] = held[:, :, :, :old]
            self._held[layer] = held = grown
        held[0, :, :, old:new] = k
        held[1, :, :, old:new] = v
        self._lengths[layer] = new
        return self.keys_and_values(layer)

    def gather(self, index: Tensor, layer: int | None = None) -> None:
        """Keep only the tokens ``index`` of those kept, in that order.

        ``index``: (m',) for all sequences and heads, or (B, g, m'). ``layer``: of all if left out.
        """
        for one in range(len(self._held)) if layer is None else [layer]:
            k, v = self.keys_and_values(one)
            batch, heads, _, d = k.shape
            rows = index.expand(batch, heads, -1)[..., None].expand(-1, -1, -1, d)
            self._held[one] = torch.stack([k.gather(2, rows), v.gather(2, rows)])
            self._lengths[one] = index.shape[-1]
