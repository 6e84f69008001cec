"""The random numbers of one training step, by name, for any split of the batch.

Every number comes from a stream named after the run, the step and the purpose: nothing has to be
saved to go on, and a process with a part of the batch draws the same numbers for its images.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from featlearn.core.seeds import derive_seed, generator


@dataclass(frozen=True)
class Draws:
    """Random numbers for the images of one batch.

    ``name``: of the run's stream, such as ``(seed, "mrp", "images", replicate)``. ``step``: of the
    training, or another number that tells batches apart. ``size``: of the whole batch, over all
    processes. ``rows``: which of them this process holds; None for all.
    """

    name: tuple[object, ...]
    step: int
    size: int
    rows: slice | None = None

    def __len__(self) -> int:
        return len(range(self.size)[self._own])

    @property
    def _own(self) -> slice:
        return slice(None) if self.rows is None else self.rows

    def generator(self, purpose: str) -> torch.Generator:
        """A CPU generator of this step and ``purpose``; the same in every process."""
        return generator(*self.name, self.step, purpose)

    def uniform(self, purpose: str, *shape: int) -> Tensor:
        """Numbers in ``[0, 1)``: float32, ``(images of this process, *shape)``, on the CPU."""
        return torch.rand(self.size, *shape, generator=self.generator(purpose))[self._own]

    def normal(self, purpose: str, *shape: int) -> Tensor:
        """Standard normal numbers: float32, ``(images of this process, *shape)``, on the CPU."""
        return torch.randn(self.size, *shape, generator=self.generator(purpose))[self._own]

    def seed_torch(self, purpose: str, device: torch.device) -> None:
        """Let PyTorch's own streams, which some layers draw from, go on from the stream's name."""
        first = 0 if self.rows is None else self.rows.start
        seed = derive_seed(*self.name, self.step, purpose, first)
        torch.default_generator.manual_seed(seed)
        if device.type == "cuda":
            torch.cuda.manual_seed(seed)
