"""Random streams derived by name.

The seed of a stream is a hash of its name, such as ``0/mrp/headline/3/train-data`` (base seed,
paper, experiment, replicate, purpose): adding one never moves the numbers of another.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch


def derive_seed(*name: object) -> int:
    """Seed of the stream called ``name``.

    ``*name``: parts, each turned into text. Returns the first 63 bits of the SHA-256 digest of
    ``"part/part/..."``. Raises ValueError if no part is given, or one is empty or contains ``/``.
    """
    parts = [str(part) for part in name]
    if not parts or any(part == "" or "/" in part for part in parts):
        raise ValueError(f"stream name {name!r}: expected non-empty parts without '/'")
    digest = hashlib.sha256("/".join(parts).encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1


def generator(*name: object) -> torch.Generator:
    """A ``torch.Generator`` for the stream ``name``, on the CPU: a GPU has the same draws."""
    import torch

    return torch.Generator().manual_seed(derive_seed(*name))


@contextmanager
def seeded(*name: object) -> Iterator[None]:
    """Within the block, torch's global CPU generator follows the stream ``name``."""
    import torch

    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(derive_seed(*name))
        yield


class Streams:
    """The random streams of an experiment; ``replicates``: indices, each to be drawn alone."""

    def __init__(self, seed: int, paper: str, experiment: str, replicates: Sequence[int]):
        self.seed, self.paper, self.experiment = seed, paper, experiment
        self.replicates = tuple(replicates)
        if not self.replicates:
            raise ValueError("replicates: expected at least one index")

    def __call__(self, purpose: str) -> list[torch.Generator]:
        """One fresh generator per replicate for ``purpose`` (e.g. ``"train-data"``)."""
        return [
            generator(self.seed, self.paper, self.experiment, replicate, purpose)
            for replicate in self.replicates
        ]


def draws(
    draw: Callable[..., torch.Tensor], streams: Sequence[torch.Generator], *shape: int, **more: Any
) -> torch.Tensor:
    """(R, *shape): what ``draw``, e.g. ``torch.randn``, gives each replicate from its stream."""
    import torch

    return torch.stack([draw(shape, generator=stream, **more) for stream in streams])
