"""The data of chapter 3: six laws of (x, y), with their directions, moments and gradients.

Each law knows the *simplified gradient vector* of a neuron with weight ``w`` and threshold ``b``
(Definition 3.5)::

    G(w, b) = E[y x 1[<w, x> > b]]

which is what the first step turns the neuron into. Directions lie along the first coordinates; as
all starts but those of uniform parity are rotation invariant, that is no restriction. Sums over a
law's finite support are an oracle for the closed forms and give population gradients (Algorithm 5).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

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
    """A law of inputs and labels.

    Parameters
    ----------
    dimension
        Of an input (d).
    """

    dimension: int
    #: Whether ``gradient`` depends on the weights beyond the law's own coordinates by their norm
    #: alone, so that :meth:`reduced` serves.
    reducible: ClassVar[bool] = True

    @property
    @abstractmethod
    def own(self) -> int:
        """Number of first coordinates that hold the signal."""

    @property
    @abstractmethod
    def directions(self) -> Tensor:
        """Unit vectors D_j that neurons should find, float64 (r, d)."""

    @property
    @abstractmethod
    def signal_std(self) -> float:
        """Standard deviation of <w, signal> for w ~ N(0, I): the unit of thresholds."""

    @property
    @abstractmethod
    def size(self) -> float:
        """Leading term of |G| for a neuron that finds its direction (B_G)."""

    @property
    @abstractmethod
    def second_moment(self) -> float:
        """E|x|^2 (B_x2); its root bounds E|x| (B_x1)."""

    @property
    @abstractmethod
    def label_mean(self) -> Tensor:
        """E[y x], float64 (d,): zero where G(w, b) = -G(-w, -b)."""

    @abstractmethod
    def draw(self, count: int, random: torch.Generator) -> tuple[Tensor, Tensor, Tensor]:
        """``count`` inputs (n, d), labels (n,) and components (n,)."""

    @abstractmethod
    def gradient(self, w: Tensor, b: Tensor) -> Tensor:
        """G(w, b) of weights (..., d) and thresholds (...)."""

    def support(self) -> Sample:
        """All inputs with their probabilities, one replicate.

        Raises
        ------
        ValueError
            If the law is continuous, or has more than :data:`MOST_INPUTS`.
        """
        raise ValueError(f"{type(self).__name__}: inputs are continuous and cannot be enumerated")

    def sample(self, count: int, streams: Sequence[torch.Generator]) -> Sample:
        """``count`` fresh inputs a replicate, each from its own stream; float64."""
        x, y, component = (
            torch.stack(part)
            for part in zip(*(self.draw(count, stream) for stream in streams), strict=True)
        )
        return Sample(x, y, component, torch.full_like(y, 1 / count))

    def reduced(self) -> Law:
        """The same law with a single coordinate beside the signal's.

        G(w, b) lies in the span of the signal's coordinates and the rest of ``w``, so that lengths
        and cosines of any dimension are found in ``own + 1`` coordinates: the last one of the
        weights is the norm of their rest; see :func:`reduced_weights`.
        """
        if not self.reducible:
            raise ValueError(f"{type(self).__name__}: the gradient is no function of norms")
        return replace(self, dimension=self.own + 1)

    def _unit(self, *places: int) -> Tensor:
        units = torch.zeros(len(places), self.dimension, dtype=torch.float64)
        units[range(len(places)), list(places)] = 1
        return units


def reduced_weights(law: Law, count: int, random: torch.Generator) -> Tensor:
    """Weights N(0, I_d) in the coordinates of ``law.reduced()``, (count, own + 1)."""
    own = torch.randn(count, law.own, generator=random, dtype=torch.float64)
    # a chi-squared number by its half: torch has no gamma sampler with a generator
    freedom = law.dimension - law.own
    source = np.random.default_rng(int(torch.randint(2**62, (), generator=random)))
    rest = torch.from_numpy(np.sqrt(source.chisquare(freedom, count)))
    return torch.cat([own, rest[:, None]], -1)


def exact_gradient(law: Law, w: Tensor, b: Tensor) -> Tensor:
    """G(w, b) as a sum over the law's support: weights (N, d), thresholds (N,)."""
    inputs = law.support()
    active = (w @ inputs.x[0].mT > b[:, None]).to(w.dtype)
    return (active * (inputs.weight * inputs.y)[0]) @ inputs.x[0]


def normal_cdf(z: Tensor) -> Tensor:
    """Phi(z), also far in the tail."""
    return torch.special.ndtr(z)


def normal_pdf(z: Tensor) -> Tensor:
    """phi(z)."""
    return torch.exp(-z.square() / 2) / math.sqrt(2 * math.pi)


# --------------------------------------------------------------------------- linearly separable


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
    def directions(self) -> Tensor:
        return self._unit(0)

    @property
    def signal(self) -> float:
        """rho = E[y <w*, x>]."""
        return self.margin + self.spread * math.sqrt(2 / math.pi)

    @property
    def size(self) -> float:
        return self.signal

    @property
    def signal_std(self) -> float:
        return math.sqrt(self.second_moment)

    @property
    def second_moment(self) -> float:
        along = self.margin * (2 * self.signal - self.margin) + self.spread**2
        return along + (self.dimension - 1) * self.noise**2

    @property
    def label_mean(self) -> Tensor:
        return self.signal * self._unit(0)[0]

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


# --------------------------------------------------------------------------- Gaussian mixtures


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

    @property
    def second_moment(self) -> float:
        means = float((self.shares * self.means.square().sum(1)).sum())
        return means + self.dimension * self.noise**2

    @property
    def label_mean(self) -> Tensor:
        return (self.shares * self.labels) @ self.means

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
    """Mixture of Gaussians with orthogonal centres of one norm (Assumption 3.15).

    Parameters
    ----------
    norm
        Of the centres.
    classes
        Labels of the clusters, +1 or -1; each class has probability 1/2, shared by its clusters.
    noise
        Standard deviation of a coordinate (sigma_B).
    """

    norm: float = 10.0
    classes: tuple[int, ...] = (1, 1, 1, -1, -1, -1)
    noise: float = 1.0

    @property
    def own(self) -> int:
        return len(self.classes)

    @property
    def directions(self) -> Tensor:
        return self._unit(*range(self.own))

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
    """XOR of four Gaussians (Assumption B.36): centres +-norm e_1 (y = 1), +-norm e_2 (y = -1).

    The thesis has ``norm = sqrt(d)``, also the default.
    """

    noise: float = 1.0
    norm: float | None = None

    def __post_init__(self) -> None:
        if self.norm is None:  # kept by reduced(), which changes the dimension
            object.__setattr__(self, "norm", math.sqrt(self.dimension))

    @property
    def own(self) -> int:
        return 2

    @property
    def directions(self) -> Tensor:
        return self._unit(0, 1)

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


# --------------------------------------------------------------------------- parities


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

    def patterns(self) -> tuple[Tensor, Tensor, Tensor]:
        """All signals (P, rk), their probabilities (P,) and components (P,)."""
        uniform = signs(self.own)
        ones = torch.eye(self.blocks, dtype=torch.float64).repeat_interleave(self.block, 1)
        parts = torch.stack([ones, -ones], 1).flatten(0, 1)
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
        signal = 2.0 * torch.randint(2, (count, self.own), generator=random).double() - 1
        chances = [self.structured] * (2 * self.blocks)
        chances.append(max(0.0, 1 - sum(chances)))
        component = torch.multinomial(torch.tensor(chances).double(), count, True, generator=random)
        component[component == 2 * self.blocks] = -1
        parts, chosen = self.patterns()[0][2**self.own :], component >= 0
        signal[chosen] = parts[component[chosen]]
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
        x = 2.0 * torch.randint(2, (count, self.dimension), generator=random).double() - 1
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


# --------------------------------------------------------------------------- multiple index


@dataclass(frozen=True)
class MultiIndex(Law):
    """Quadratic of few projections of a Gaussian input (B.3.6); the label is real.

    y = 1/2 sum_i lambda_i (x_i^2 - 1), so that H = E[Hessian] = diag(lambda), and E[y^2] = 1.

    Parameters
    ----------
    curvatures
        lambda_i up to a common factor.
    """

    curvatures: tuple[float, ...] = (1.0, -1.0)

    @property
    def own(self) -> int:
        return len(self.curvatures)

    @property
    def eigenvalues(self) -> Tensor:
        """lambda, scaled to sum lambda_i^2 = 2."""
        values = torch.tensor(self.curvatures, dtype=torch.float64)
        return values * math.sqrt(2) / values.norm()

    @property
    def directions(self) -> Tensor:
        return self._unit(*range(self.own))

    @property
    def size(self) -> float:
        # root mean square over starts
        return 1 / math.sqrt(math.pi * self.dimension)

    @property
    def signal_std(self) -> float:
        return math.sqrt(self.own)

    @property
    def second_moment(self) -> float:
        return float(self.dimension)

    @property
    def label_mean(self) -> Tensor:
        return torch.zeros(self.dimension, dtype=torch.float64)

    def draw(self, count: int, random: torch.Generator) -> tuple[Tensor, Tensor, Tensor]:
        x = torch.randn(count, self.dimension, generator=random, dtype=torch.float64)
        y = (self.eigenvalues * (x[:, : self.own].square() - 1)).sum(1) / 2
        return x, y, torch.zeros(count, dtype=torch.int64)

    def gradient(self, w: Tensor, b: Tensor) -> Tensor:
        """phi(c) (H u + (c^2 - 1) / 2 <u, H u> u), with u = w / |w| and c = b / |w|."""
        norm = w.norm(dim=-1)
        unit, c = w / norm[..., None], b / norm
        bent = torch.zeros_like(w)
        bent[..., : self.own] = self.eigenvalues * unit[..., : self.own]
        along = (bent * unit).sum(-1) * (c.square() - 1) / 2
        return normal_pdf(c)[..., None] * (bent + along[..., None] * unit)


#: By the name in a config; a parity of one block, and of several, which behaves otherwise.
LAWS: Mapping[str, type[Law]] = {
    "linear": Linear,
    "mixture": Mixture,
    "xor": Xor,
    "parity": Parity,
    "parity_blocks": Parity,
    "uniform_parity": UniformParity,
    "multi_index": MultiIndex,
}


def law_of(name: str, settings: Mapping[str, Any]) -> Law:
    """The law of a name in :data:`LAWS`, lists of the config as tuples."""
    fields = {key: tuple(v) if isinstance(v, list) else v for key, v in settings.items()}
    made: Any = LAWS[name]
    law: Law = made(**fields)
    return law
