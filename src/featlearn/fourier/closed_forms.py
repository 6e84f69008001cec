"""Chapter 4 in formulas: the maximum margin, widths that attain it, what chance gives. No torch."""

from __future__ import annotations

from math import factorial, sqrt


def frequencies(p: int) -> int:
    """Number of frequencies 1, 2, ... of a real function on Z_p, without p / 2 of an even p."""
    return (p - 1) // 2


def width(k: int, p: int) -> int:
    """Neurons of the construction: m = 2^(2k - 2) (p - 1) (Theorem 4.9)."""
    return 2 ** (2 * k - 2) * (p - 1)


def maximum_margin(k: int, p: int) -> float:
    """gamma*, the largest L_{2,k+1}-normalised margin on Z_p^k (Theorem 4.9)::

    2 k! / ((2k + 2)^((k + 1) / 2) (p - 1) p^((k - 1) / 2))
    """
    scale = (2 * k + 2) ** ((k + 1) / 2) * (p - 1) * p ** ((k - 1) / 2)
    return 2 * factorial(k) / scale


def amplitude(k: int, p: int) -> float:
    """beta = sqrt(2 / ((k + 1) p)): of the k + 1 cosines of a neuron of norm 1 (Lemma 4.10)."""
    return sqrt(2 / ((k + 1) * p))


def expected_peak(p: int) -> float:
    """Mean largest share of power at one frequency of white noise on Z_p, about H_M / (M + 1/2).

    H_M the harmonic number of the M = (p - 1) / 2 frequencies: the largest of M exponential
    variables over the sum of them and of the half of one that the mean adds (ours).
    """
    count = frequencies(p)
    return sum(1 / j for j in range(1, count + 1)) / (count + 0.5)
