"""The parities of chapter 3: structured (Assumption 3.19) and uniform (Assumption B.53)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from featlearn.gradient_features.law import (
    MOST_INPUTS,
    Law,
    Sample,
    normal_cdf,
    normal_pdf,
    random_signs,
)


@dataclass(frozen=True)
class Parity(Law):
    """Structured parities (Assumption 3.19), dictionary M = I.

    The label is the sign of the sum of the parities of ``blocks`` blocks of ``block`` coordinates.
    With probability ``1 - 2 blocks structured`` these are uniform signs (component -1); else one
    block is all +1 (component 2j) or all -1 (2j + 1), and the others are 0.

    Parameters
    ----------
    block, blocks
        k and r, both odd.
    structured
        p_A, at most 1 / (2 r).
    background
        p_o: every other coordinate is +1 or -1 with this probability each, else 0.
    """

    block: int = 5
    blocks: int = 1
    structured: float = 0.2
    background: float = 0.1

    @property
    def own(self) -> int:
        return self.block * self.blocks

    @property
    def directions(self) -> Tensor:
        units = self._unit(*range(self.own)).view(self.blocks, self.block, self.dimension)
        return units.sum(1) / math.sqrt(self.block)

    @property
    def size(self) -> float:
        return math.sqrt(self.block) * self.structured

    @property
    def signal_std(self) -> float:
        return math.sqrt(self.own)

    @property
    def second_moment(self) -> float:
        share = 2 * self.blocks * self.structured
        signal = (1 - share) * self.own + share * self.block
        return signal + 2 * self.background * (self.dimension - self.own)

    @property
    def label_mean(self) -> Tensor:
        # the structured part alone: y = +1 on a block of +1, and -1 on a block of -1
        return 2 * self.structured * math.sqrt(self.block) * self.directions.sum(0)

    def parts(self) -> Tensor:
        """Signals of the structured components, (2 r, rk)."""
        ones = torch.eye(self.blocks, dtype=torch.float64).repeat_interleave(self.block, 1)
        return torch.stack([ones, -ones], 1).flatten(0, 1)

    def patterns(self) -> tuple[Tensor, Tensor, Tensor]:
        """All signals (P, rk), their probabilities (P,) and components (P,)."""
        uniform, parts = signs(self.own), self.parts()
        share = 1 - 2 * self.blocks * self.structured
        weight = torch.cat([
            uniform.new_full((len(uniform),), share / len(uniform)),
            uniform.new_full((len(parts),), self.structured),
        ])  # fmt: skip
        component = torch.cat([torch.full((len(uniform),), -1), torch.arange(len(parts))])
        return torch.cat([uniform, parts]), weight, component

    def label(self, signal: Tensor) -> Tensor:
        """Of signals (..., rk)."""
        return signal.reshape(*signal.shape[:-1], self.blocks, self.block).prod(-1).sum(-1).sign()

    def draw(self, count: int, random: torch.Generator) -> tuple[Tensor, Tensor, Tensor]:
        signal = random_signs((count, self.own), random)
        chances = [self.structured] * (2 * self.blocks)
        chances.append(max(0.0, 1 - sum(chances)))
        component = torch.multinomial(torch.tensor(chances).double(), count, True, generator=random)
        component[component == 2 * self.blocks] = -1
        chosen = component >= 0
        signal[chosen] = self.parts()[component[chosen]]
        drawn = torch.rand(count, self.dimension - self.own, generator=random, dtype=torch.float64)
        rest = (drawn < self.background).double() - (drawn > 1 - self.background).double()
        return torch.cat([signal, rest], 1), self.label(signal), component

    def gradient(self, w: Tensor, b: Tensor) -> Tensor:
        """With the sum over the background taken as Gaussian, which it is for large d.

        Its error is that of a normal approximation of ``d - rk`` terms (Berry-Esseen).
        """
        signal, weight, _ = self.patterns()
        own, rest = w[..., : self.own], w[..., self.own :]
        variance = 2 * self.background
        std = math.sqrt(variance) * rest.norm(dim=-1, keepdim=True)
        z = (own @ signal.mT - b[..., None]) / std
        signed = weight * self.label(signal)
        along = (signed * normal_pdf(z)).sum(-1, keepdim=True)
        return torch.cat([(signed * normal_cdf(z)) @ signal, variance * along * rest / std], -1)

    def support(self) -> Sample:
        others = self.dimension - self.own
        signal, weight, component = self.patterns()
        if len(signal) * 3**others > MOST_INPUTS:
            raise ValueError(f"dimension: {self.dimension}; too many inputs to enumerate")
        values = torch.tensor([0.0, 1.0, -1.0], dtype=torch.float64)
        chances = torch.tensor([1 - 2 * self.background, self.background, self.background]).double()
        places = torch.arange(3**others)[:, None] // 3 ** torch.arange(others) % 3
        rest, chance = values[places], chances[places].prod(1)
        x = torch.cat([
            signal.repeat_interleave(len(rest), 0), rest.repeat(len(signal), 1)
        ], 1)  # fmt: skip
        weight = (weight[:, None] * chance).flatten()
        component = component.repeat_interleave(len(rest))
        y = self.label(x[:, : self.own])
        return Sample(x[None], y[None], component[None], weight[None])


@dataclass(frozen=True)
class UniformParity(Law):
    """Parity of ``block`` (k, even) coordinates of uniform signs (Assumption B.53)."""

    block: int = 4
    reducible: ClassVar[bool] = False

    @property
    def own(self) -> int:
        return self.block

    @property
    def directions(self) -> Tensor:
        return self._unit(*range(self.block)).sum(0, keepdim=True) / math.sqrt(self.block)

    @property
    def size(self) -> float:
        return abs(majority_coefficient(self.dimension, self.block - 1)) * math.sqrt(self.block) / 2

    @property
    def signal_std(self) -> float:
        return math.sqrt(self.block)

    @property
    def second_moment(self) -> float:
        return float(self.dimension)

    @property
    def label_mean(self) -> Tensor:
        return torch.zeros(self.dimension, dtype=torch.float64)

    def draw(self, count: int, random: torch.Generator) -> tuple[Tensor, Tensor, Tensor]:
        x = random_signs((count, self.dimension), random)
        return x, x[:, : self.block].prod(1), torch.full((count,), -1)

    def gradient(self, w: Tensor, b: Tensor) -> Tensor:
        """Of weights +-1 and thresholds in (-1, 1), with d odd (Lemma B.63, corrected)::

            G_j = xi_(k-1) / 2 * prod_(A without j) w_l      for j in A
                = xi_(k+1) / 2 * prod_(A and j) w_l          else

        The thesis lacks the factor 1/2 and has xi_(k-1) in both.
        """
        if self.dimension % 2 == 0 or not (w.abs() == 1).all() or not (b.abs() < 1).all():
            raise ValueError(
                "the gradient of uniform parity: expected an odd dimension, weights of +1 and -1 "
                "and thresholds between them"
            )
        low, high = (majority_coefficient(self.dimension, self.block + by) for by in (-1, 1))
        product = w[..., : self.block].prod(-1, keepdim=True)
        size = torch.full((self.dimension,), high / 2, dtype=w.dtype)
        size[: self.block] = low / 2
        return size * product * w

    def support(self) -> Sample:
        if 2**self.dimension > MOST_INPUTS:
            raise ValueError(f"dimension: {self.dimension}; too many inputs to enumerate")
        x = signs(self.dimension)
        y = x[:, : self.block].prod(1)
        component = torch.full((1, len(x)), -1)
        return Sample(x[None], y[None], component, torch.full_like(y, 1 / len(x))[None])


def signs(count: int) -> Tensor:
    """All vectors of +1 and -1, (2**count, count)."""
    bits = torch.arange(2**count)[:, None] >> torch.arange(count - 1, -1, -1)
    return 1.0 - 2.0 * (bits & 1).double()


def majority_coefficient(dimension: int, size: int) -> float:
    """xi: Fourier coefficient of the majority of ``dimension`` signs on ``size``; both odd (B.547).

    B.480 prints another binomial coefficient in the numerator.
    """
    half = (dimension - 1) // 2
    sign = (-1) ** ((size - 1) // 2)
    central = math.comb(dimension - 1, half) / 2 ** (dimension - 1)
    return sign * central * math.comb(half, (size - 1) // 2) / math.comb(dimension - 1, size - 1)
