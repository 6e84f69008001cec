"""Fitting first and generalising later (Figure 4.4), and what a network is taught of a test set.

The thesis splits the ordered inputs at random. A network that hardly sees the order then meets
among the test inputs permutations of what it was taught; a mixed split has as many that are new.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from featlearn.fourier.data import labels, orbits, split, tuples

#: Inputs for training, all others, and of these the permutations of one for training and the rest.
PARTS = ("train", "test", "known", "new")
#: Numbers that are held at once where all inputs are looked at: a GiB of float32.
AT_ONCE = 2**28


@dataclass(frozen=True)
class Lesson:
    """A task, and what each of R networks is taught of it.

    ``taught`` bool (R, p^k): which inputs are for training. ``asked`` int64 (N,): numbers of the
    inputs that accuracies are taken over. ``parts`` bool (R, 4, N): which of these belong to each
    of :data:`PARTS`.
    """

    k: int
    p: int
    taught: Tensor
    asked: Tensor
    parts: Tensor

    @classmethod
    def draw(
        cls, kind: str, k: int, p: int, share: float, streams: Sequence[torch.Generator],
        asked: Tensor | None = None,
    ) -> Lesson:  # fmt: skip
        """A split a replicate, of a ``kind`` of :func:`split`. Of all inputs, ``asked`` names those
        that accuracies are taken over; all if left out."""
        own = orbits(torch.arange(p**k), k, p)
        asked = torch.arange(p**k) if asked is None else asked
        sets, found = [], []
        for stream in streams:
            taught = torch.zeros(p**k, dtype=torch.bool)
            taught[split(kind, k, p, share, stream).train] = True
            sets.append(taught)
            for_training, known = taught[asked], torch.isin(own[asked], own[taught])
            found.append(torch.stack([for_training, ~for_training, known & ~for_training, ~known]))
        return cls(k, p, torch.stack(sets), asked, torch.stack(found))

    def of(self, replicates: Tensor) -> Lesson:
        """What these of the networks are taught."""
        return replace(self, taught=self.taught[replicates], parts=self.parts[replicates])

    def batches(self, size: int, streams: Sequence[torch.Generator]) -> Iterator[Tensor]:
        """Training inputs (R, B, k) without end, drawn with replacement."""
        sets = [one.nonzero().squeeze(1) for one in self.taught]
        while True:
            drawn = [own[torch.randint(len(own), (size,), generator=stream)]
                     for own, stream in zip(sets, streams, strict=True)]  # fmt: skip
            yield tuples(torch.stack(drawn), self.k, self.p)

    def accuracies(
        self, answer: Callable[[Tensor], Tensor], held: int | None = None
    ) -> dict[str, Tensor]:
        """Over each part, (R,); not a number where a part is empty.

        ``answer``: the logits (R, B, p) of inputs (B, k). ``held``: numbers that it holds at once
        for an input and a network; inputs are given to it in pieces that make :data:`AT_ONCE`. 256
        p if left out.
        """
        right, block = [], max(1, AT_ONCE // ((held or 256 * self.p) * len(self.parts)))
        for index in torch.split(self.asked, block):
            a = tuples(index, self.k, self.p)
            right.append(answer(a).argmax(-1).cpu() == labels(a, self.p))
        shares = (torch.cat(right, 1)[:, None] & self.parts).sum(-1) / self.parts.sum(-1)
        return dict(zip(PARTS, shares.unbind(1), strict=True))
