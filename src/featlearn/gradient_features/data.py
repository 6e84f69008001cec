"""The data of chapter 3: linear, mixtures, multiple index, parities; all laws by their names."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
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
class Linear(Law):
    """Linearly separable data (B.3.3): x = y (margin + spread |g|) w* + noise across w*.

    The thesis names no law; this one has its properties: y <w*, x> >= margin (beta), signal
    E[y <w*, x>] = rho, and nothing across w* that tells the label.
    """

    margin: float = 0.2
    spread: float = 1.0
    noise: float = 1.0

    @property
    def own(self) -> int:
        return 1

    @property
    def signal(self) -> float:
        """rho = E[y <w*, x>]."""
        return self.margin + self.spread * math.sqrt(2 / math.pi)

    @property
    def size(self) -> float:
        return self.signal

    @property
    def signal_std(self) -> float:
        # the root of E|x|^2
        along = self.margin * (2 * self.signal - self.margin) + self.spread**2
        return math.sqrt(along + (self.dimension - 1) * self.noise**2)

    def draw(self, count: int, random: torch.Generator) -> tuple[Tensor, Tensor, Tensor]:
        component = torch.randint(2, (count,), generator=random)
        y = 2.0 * component.double() - 1
        x = torch.randn(count, self.dimension, generator=random, dtype=torch.float64)
        along = y * (self.margin + self.spread * x[:, 0].abs())
        x = self.noise * x
        x[:, 0] = along
        return x, y, component

    def gradient(self, w: Tensor, b: Tensor) -> Tensor:
        # over |g| by quadrature, over the noise in closed form
        nodes, weights = (torch.from_numpy(part) for part in np.polynomial.legendre.leggauss(96))
        size = 4.5 * (nodes + 1)
        weights = 4.5 * weights * 2 * normal_pdf(size)
        projection = self.margin + self.spread * size
        across = w[..., 1:].norm(dim=-1, keepdim=True)
        std = self.noise * across
        own, rest = torch.zeros_like(std), torch.zeros_like(std)
        for sign in (1, -1):
            z = (sign * projection * w[..., :1] - b[..., None]) / std
            own += (weights * projection * normal_cdf(z)).sum(-1, keepdim=True) / 2
            rest += sign * (weights * normal_pdf(z)).sum(-1, keepdim=True) / 2
        return torch.cat([own, self.noise * rest * w[..., 1:] / across], -1)


class GaussianMixture(Law):
    """Clusters N(mu_j, noise^2 I) with labels; ``noise`` is a standard deviation."""

    noise: float

    @property
    @abstractmethod
    def means(self) -> Tensor:
        """mu_j, (r, d)."""

    @property
    @abstractmethod
    def labels(self) -> Tensor:
        """Of the clusters, (r,)."""

    @property
    @abstractmethod
    def shares(self) -> Tensor:
        """Probabilities of the clusters, (r,)."""

    def draw(self, count: int, random: torch.Generator) -> tuple[Tensor, Tensor, Tensor]:
        component = torch.multinomial(self.shares, count, replacement=True, generator=random)
        x = torch.randn(count, self.dimension, generator=random, dtype=torch.float64)
        return self.means[component] + self.noise * x, self.labels[component], component

    def gradient(self, w: Tensor, b: Tensor) -> Tensor:
        norm = w.norm(dim=-1, keepdim=True)
        t = self.activation(w, b)
        signed = self.shares * self.labels
        along = (signed * normal_pdf(t)).sum(-1, keepdim=True) * self.noise
        return (signed * normal_cdf(t)) @ self.means + along * w / norm

    def activation(self, w: Tensor, b: Tensor) -> Tensor:
        """t_l (..., r): a neuron is active on cluster l with probability Phi(t_l)."""
        norm = w.norm(dim=-1, keepdim=True)
        return (w @ self.means.mT - b[..., None]) / (self.noise * norm)


@dataclass(frozen=True)
class Mixture(GaussianMixture):
    """Mixture of Gaussians with orthogonal centres of one norm (Assumption 3.15)."""

    norm: float = 10.0  #: Of the centres
    #: Labels of the clusters, +1 or -1; each class has probability 1/2, shared by its clusters.
    classes: tuple[int, ...] = (1, 1, 1, -1, -1, -1)
    noise: float = 1.0  #: Standard deviation of a coordinate (sigma_B)

    @property
    def own(self) -> int:
        return len(self.classes)

    @property
    def means(self) -> Tensor:
        return self.norm * self.directions

    @property
    def labels(self) -> Tensor:
        return torch.tensor(self.classes, dtype=torch.float64)

    @property
    def shares(self) -> Tensor:
        return torch.tensor([0.5 / self.classes.count(own) for own in self.classes]).double()

    @property
    def size(self) -> float:
        return float(self.shares.max()) * self.norm

    @property
    def signal_std(self) -> float:
        return self.norm


@dataclass(frozen=True)
class Xor(GaussianMixture):
    """XOR of four Gaussians (B.36): +-norm e_1 (y = 1), +-norm e_2 (y = -1); by default sqrt(d)."""

    noise: float = 1.0
    norm: float | None = None

    def __post_init__(self) -> None:
        if self.norm is None:  # kept by reduced(), which changes the dimension
            object.__setattr__(self, "norm", math.sqrt(self.dimension))

    @property
    def own(self) -> int:
        return 2

    @property
    def means(self) -> Tensor:
        units = self.directions
        return self.signal_std * torch.stack([units[0], -units[0], units[1], -units[1]])

    @property
    def labels(self) -> Tensor:
        return torch.tensor([1.0, 1.0, -1.0, -1.0], dtype=torch.float64)

    @property
    def shares(self) -> Tensor:
        return torch.full((4,), 0.25, dtype=torch.float64)

    @property
    def size(self) -> float:
        return self.signal_std / 4

    @property
    def signal_std(self) -> float:
        assert self.norm is not None
        return self.norm


@dataclass(frozen=True)
class MultiIndex(Law):
    """Polynomial of few projections of a Gaussian input (B.5.7); the label is real.

    y = sum_i lambda_i / 2 He_2(x_i) + q_i / 24 He_4(x_i), He Hermite polynomials, so that
    H = E[Hessian] = diag(lambda); scaled to E[y^2] = 1.
    """

    curvatures: tuple[float, ...] = (1.0, -1.0)  #: lambda_i up to a common factor
    quartics: tuple[float, ...] = ()  #: q_i up to the same factor; those that are not given are 0

    @property
    def own(self) -> int:
        return len(self.curvatures)

    @property
    def coefficients(self) -> tuple[Tensor, Tensor]:
        """lambda and q, (r,) each."""
        missing = (0.0,) * (self.own - len(self.quartics))
        second = torch.tensor(self.curvatures, dtype=torch.float64)
        fourth = torch.tensor(self.quartics + missing, dtype=torch.float64)
        scale = (second.square().sum() / 2 + fourth.square().sum() / 24).sqrt()
        return second / scale, fourth / scale

    @property
    def size(self) -> float:
        # root mean square over starts
        return math.sqrt(
            self.coefficients[0].square().sum().item() / (2 * math.pi * self.dimension)
        )

    def draw(self, count: int, random: torch.Generator) -> tuple[Tensor, Tensor, Tensor]:
        x = torch.randn(count, self.dimension, generator=random, dtype=torch.float64)
        squares = x[:, : self.own].square()
        second, fourth = self.coefficients
        y = (squares - 1) @ (second / 2) + (squares.square() - 6 * squares + 3) @ (fourth / 24)
        return x, y, torch.zeros(count, dtype=torch.int64)

    def gradient(self, w: Tensor, b: Tensor) -> Tensor:
        """By Stein's lemma E[1 grad y] + phi(c) E[y | <u, x> = c] u, u = w / |w|, c = b / |w|.

        Of the quadratic part phi(c) (H u + He_2(c) / 2 <u, H u> u); the quartic one is smaller by
        the square of u's part in the relevant space, about 1 / d.
        """
        norm = w.norm(dim=-1)
        unit, c = w / norm[..., None], (b / norm)[..., None]
        second, fourth = self.coefficients
        own = unit[..., : self.own]
        two, four = c.square() - 1, c**4 - 6 * c.square() + 3  # He_2, He_4
        bent = torch.zeros_like(w)
        bent[..., : self.own] = second * own + two * fourth / 6 * own**3
        along = two / 2 * second * own.square() + four / 24 * fourth * own**4
        return normal_pdf(c) * (bent + along.sum(-1, keepdim=True) * unit)


@dataclass(frozen=True)
class Parity(Law):
    """Structured parities (Assumption 3.19), dictionary M = I.

    The label is the sign of the sum of the parities of ``blocks`` blocks of ``block`` coordinates.
    With probability ``1 - 2 blocks structured`` these are uniform signs (component -1); else one
    block is all +1 (component 2j) or all -1 (2j + 1), and the others are 0.
    """

    #: ``block`` and ``blocks``: k and r, both odd.
    block: int = 5
    blocks: int = 1
    structured: float = 0.2  #: p_A, at most 1 / (2 r)
    #: p_o: every other coordinate is +1 or -1 with this probability each, else 0.
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
        """With the sum over the background taken as Gaussian, which it is for large d. Its error is
        that of a normal approximation of ``d - rk`` terms (Berry-Esseen)."""
        signal, weight, _ = self.patterns()
        own, rest = w[..., : self.own], w[..., self.own :]
        variance = 2 * self.background
        std = math.sqrt(variance) * rest.norm(dim=-1, keepdim=True)
        z = (own @ signal.mT - b[..., None]) / std
        signed = weight * self.label(signal)
        along = (signed * normal_pdf(z)).sum(-1, keepdim=True)
        return torch.cat([(signed * normal_cdf(z)) @ signal, variance * along * rest / std], -1)

    def support(self) -> Sample:
        """All inputs with their probabilities, one replicate; ValueError if they are too many."""
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
        """All inputs with their probabilities, one replicate; ValueError if they are too many."""
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
    B.480 prints another binomial coefficient in the numerator."""
    half = (dimension - 1) // 2
    sign = (-1) ** ((size - 1) // 2)
    central = math.comb(dimension - 1, half) / 2 ** (dimension - 1)
    return sign * central * math.comb(half, (size - 1) // 2) / math.comb(dimension - 1, size - 1)


#: By the name in a config; a parity of one block, and of several, which behaves otherwise.
LAWS: Mapping[str, type[Law]] = {
    "linear": Linear, "mixture": Mixture, "xor": Xor, "parity": Parity, "parity_blocks": Parity,
    "uniform_parity": UniformParity, "multi_index": MultiIndex,
}  # fmt: skip


def law_of(name: str, settings: Mapping[str, Any]) -> Law:
    """The law of a name in :data:`LAWS`, lists of the config as tuples."""
    fields = {key: tuple(v) if isinstance(v, list) else v for key, v in settings.items()}
    made: Any = LAWS[name]
    law: Law = made(**fields)
    return law
