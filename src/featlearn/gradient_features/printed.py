"""What bounds of chapter 3 say at given sizes, constants of O(.) as 1. No torch."""

from __future__ import annotations

from math import comb, log, sqrt
from typing import Any, NamedTuple

#: tau of Assumptions 3.15 and 3.19, the least that they allow.
TAU = 8


def xor_error(noise: float, dimension: int, samples: int) -> float:
    """Theorem B.42: error of the network, sigma^(3/2) (d^(-1/4) + n^(-1/6))."""
    return noise**1.5 * (dimension**-0.25 + samples ** (-1 / 6))


def xor_activation(dimension: int) -> float:
    """Lemma B.39 with tau = 1: least activation of a sure neuron on its own cluster."""
    return 1 - log(dimension) ** (-1 / 50)


def mixture_width(dimension: int, norm: float, noise: float) -> float:
    """1 / p of Lemma B.30 with C_b = 1: neurons for one that is sure."""
    small = norm / sqrt(dimension)
    wide = max(noise, small)
    power = 9 * TAU * wide**2 / (2 * small**2)
    return sqrt(TAU * log(dimension)) * wide / small * float(dimension) ** power


def parity_width(dimension: int, blocks: int) -> float:
    """1 / p of Lemma B.47 with C_b = 1."""
    return sqrt(TAU * blocks * log(dimension)) * float(dimension) ** (9 * TAU * blocks / 8)


def fixed_features_loss(block: int, features: int, norm: float) -> float:
    """Proposition 3.23: least hinge loss of so many bounded features under a head of this norm."""
    return 0.5 - sqrt(features) * norm / (2**block * sqrt(2))


def uniform_parity_inputs(dimension: int, block: int, neurons: int, error: float) -> float:
    """Theorem B.56: n."""
    logs = log(block * dimension / error) * log(dimension * neurons / error)
    first = block ** (7 / 6) * dimension * comb(dimension, block - 1) * logs
    return first + block**3 * neurons * dimension**2 / error**2


def uniform_parity_steps(dimension: int, block: int, neurons: int, error: float) -> float:
    """Theorem B.56: T."""
    return block**3 * neurons * dimension**2 / error


def polynomial_inputs(dimension: int, neurons: int, samples: int) -> float:
    """Theorem B.69 at degree 4, kappa sqrt(r) = 1: n, where the log has that of the run."""
    return dimension**2 * log(samples * neurons * dimension) ** 5 + neurons


def polynomial_width(dimension: int, neurons: int, samples: int, error: float) -> float:
    """Theorem B.69 at degree 4, kappa sqrt(r) = 1: m."""
    return log(samples * neurons * dimension) ** 25 / error


def infinity_cone_error(dimension: int, block: int) -> float:
    """Theorem B.65: k^2 sqrt(d log d) / (d - k). What is put into Theorem B.62 gives
    6 sqrt(2) (1 + 1 / k) times as much: r = 3 (k + 1), B_a1 = 2 sqrt(k), sqrt(2 d log d)."""
    return block**2 * sqrt(dimension * log(dimension)) / (dimension - block)


class Drift(NamedTuple):
    """What Lemma B.9 knows of a neuron; numbers, or arrays that broadcast."""

    x: Any  #: B_x1
    a: Any  #: |a^(1)|
    w: Any  #: |w^(1)|
    b: Any  #: threshold
    rate: float  #: eta

    @property
    def pull(self) -> Any:
        """Z: how fast an output weight can grow, over eta."""
        return self.x * self.w + self.b

    def as_printed(self, steps: int) -> Any:
        """|w^(t) - w^(1)| at most (B.61): linear in the number of steps."""
        return steps * self.rate * self.x * (self.a + self.rate * self.pull)

    def corrected(self, steps: int) -> Any:
        """What the recursion (B.66), (B.69) gives, exactly: of length t eta B_x1 = s

        |a| sinh(s) + Z / B_x1 (cosh(s) - 1), so that the leading term in Z is quadratic in t. The
        binomial approximation (B.81) stops before it.
        """
        s = self.rate * self.x
        drift, a = 0 * self.pull, self.a
        for _ in range(steps):
            drift, a = drift + s * a, a + s * drift + self.rate * self.pull
        return drift
