"""Vectors of earlier batches: MoCo's queue of keys, NNCLR's support set."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from featlearn.core.errors import ConfigError


class Queue(nn.Module):
    """The last ``size`` vectors that were put in; the oldest goes first.

    It starts with random unit vectors of torch's global generator, and is part of the state dict.

    Parameters
    ----------
    size
        How many vectors it holds.
    width
        Of a vector.

    Attributes
    ----------
    rows : (size, width)
        Unit vectors, in no particular order.
    """

    rows: Tensor
    place: Tensor

    def __init__(self, size: int, width: int):
        super().__init__()
        if size < 1:
            raise ConfigError(f"pretraining.queue: {size}; expected at least 1")
        self.register_buffer("rows", functional.normalize(torch.randn(size, width), dim=1))
        self.register_buffer("place", torch.zeros((), dtype=torch.int64))

    @torch.no_grad()
    def put(self, vectors: Tensor) -> None:
        """Replace the oldest rows by ``vectors`` (B, width), normalised; of more than fit, the
        last ones.
        """
        size = len(self.rows)
        fresh = functional.normalize(vectors.detach().float(), dim=1)[-size:]
        own = (self.place + torch.arange(len(fresh), device=self.rows.device)) % size
        self.rows[own] = fresh
        self.place.copy_((self.place + len(fresh)) % size)

    @torch.no_grad()
    def nearest(self, vectors: Tensor) -> Tensor:
        """Of each of ``vectors`` (B, width) the row of the largest cosine, (B, width)."""
        return self.rows[(vectors.float() @ self.rows.T).argmax(1)]
