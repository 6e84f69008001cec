"""What each law of chapter 3 knows of itself: inputs, labels, directions, moments, gradients.

The *simplified gradient vector* of a neuron with weight ``w`` and threshold ``b`` (Def. 3.5)::

    G(w, b) = E[y x 1[<w, x> > b]]

is what the first step turns the neuron into. Directions lie along the first coordinates; as all
starts but those of uniform parity are rotation invariant, that is no restriction. Sums over a law's
finite support are an oracle for the closed forms and give population gradients (Algorithm 5).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np
import torch
from torch import Tensor

#: Most inputs that an enumeration holds.
MOST_INPUTS = 2**20


class Sample(NamedTuple):
    """Inputs with labels, replicates first; ``weight`` are probabilities that sum to 1."""

    x: Tensor  #: (R, n, d)
    y: Tensor  #: (R, n)
    component: Tensor  #: (R, n) int64: the part of the law that an input was drawn from
    weight: Tensor  #: (R, n)

    def to(self, dtype: torch.dtype, device: torch.device | str = "cpu") -> Sample:
        """In another precision, on another device."""
        x, y, weight = (part.to(device, dtype) for part in (self.x, self.y, self.weight))
        return Sample(x, y, self.component.to(device), weight)


@dataclass(frozen=True)
class Law(ABC):
    """A law of inputs and labels."""

    dimension: int  #: Of an input (d)
    #: Whether ``gradient`` depends on the weights beyond the law's own coordinates by their norm
    #: alone, so that :meth:`reduced` serves.
    reducible: ClassVar[bool] = True

    @property
    @abstractmethod
    def own(self) -> int:
        """Number of first coordinates that hold the signal."""

    @property
    @abstractmethod
    def size(self) -> float:
        """Leading term of |G| for a neuron that finds its direction (B_G)."""

    @property
    def directions(self) -> Tensor:
        """Unit vectors D_j that neurons should find, float64 (r, d); the axes of the signal."""
        return self._unit(*range(self.own))

    @property
    def signal_std(self) -> float:
        """Standard deviation of <w, signal> for w ~ N(0, I): the unit of thresholds."""
        return math.sqrt(self.own)

    @abstractmethod
    def draw(self, count: int, random: torch.Generator) -> tuple[Tensor, Tensor, Tensor]:
        """``count`` inputs (n, d), labels (n,) and components (n,)."""

    @abstractmethod
    def gradient(self, w: Tensor, b: Tensor) -> Tensor:
        """G(w, b) of weights (..., d) and thresholds (...)."""

    def sample(self, count: int, streams: Sequence[torch.Generator]) -> Sample:
        """``count`` fresh inputs a replicate, each from its own stream; float64."""
        x, y, component = stacked(lambda stream: self.draw(count, stream), streams)
        return Sample(x, y, component, torch.full_like(y, 1 / count))

    def reduced(self) -> Law:
        """The same law with a single coordinate beside the signal's.

        G(w, b) lies in the span of the signal's coordinates and the rest of ``w``, so that ``own +
        1`` coordinates give lengths and cosines of any dimension; see :func:`reduced_weights`.
        """
        if not self.reducible:
            raise ValueError(f"{type(self).__name__}: the gradient is no function of norms")
        return replace(self, dimension=self.own + 1)

    def _unit(self, *places: int) -> Tensor:
        units = torch.zeros(len(places), self.dimension, dtype=torch.float64)
        units[range(len(places)), list(places)] = 1
        return units


def stacked(
    draw: Callable[[torch.Generator], Iterable[Tensor]], streams: Sequence[torch.Generator]
) -> Iterator[Tensor]:
    """What ``draw`` gives of each stream, part by part: (R, ...)."""
    return map(torch.stack, zip(*map(draw, streams), strict=True))


def reduced_weights(law: Law, count: int, random: torch.Generator) -> Tensor:
    """Weights N(0, I_d) in the coordinates of ``law.reduced()``, (count, own + 1)."""
    own = torch.randn(count, law.own, generator=random, dtype=torch.float64)
    # a chi-squared number by its half: torch has no gamma sampler with a generator
    freedom = law.dimension - law.own
    source = np.random.default_rng(int(torch.randint(2**62, (), generator=random)))
    rest = torch.from_numpy(np.sqrt(source.chisquare(freedom, count)))
    return torch.cat([own, rest[:, None]], -1)


def random_signs(shape: Sequence[int], random: torch.Generator) -> Tensor:
    """Uniform on +1 and -1, float64."""
    return 2.0 * torch.randint(2, tuple(shape), generator=random).double() - 1


def normal_cdf(z: Tensor) -> Tensor:
    """Phi(z), also far in the tail."""
    return torch.special.ndtr(z)


def normal_pdf(z: Tensor) -> Tensor:
    """phi(z)."""
    return torch.exp(-z.square() / 2) / math.sqrt(2 * math.pi)
