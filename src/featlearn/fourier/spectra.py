"""Power spectra of weight vectors on Z_p: peaks, phases, what a neuron is (Figures 4.1, 4.2).

The thesis measures max_i |u^[i]|^2 / sum_j |u^[j]|^2, by which a pure cosine has 1/2, its two
frequencies +-zeta sharing the power; its figures show 1. Here the two are one bar.
"""

from __future__ import annotations

from math import factorial, pi
from typing import NamedTuple

import torch
from torch import Tensor

from featlearn.fourier.closed_forms import maximum_margin
from featlearn.fourier.config import PURE
from featlearn.fourier.network import Network, neuron_norms, norm

#: Share of the largest neuron's norm below which a neuron is dead.
DEAD = 0.1


def folded_power(vectors: Tensor) -> Tensor:
    """Shares of power of vectors (..., p) at frequencies 0, 1 ... p // 2, both signs in one. A
    vector of zeros has no power to share: not numbers."""
    power = torch.fft.rfft(vectors).abs().square()
    top = -1 if vectors.shape[-1] % 2 == 0 else power.shape[-1]
    power[..., 1:top] *= 2
    return power / power.sum(-1, keepdim=True)


class Circuits(NamedTuple):
    """What the neurons of R networks are; m neurons with k + 1 vectors each, the output's last."""

    frequency: Tensor  #: (R, k + 1, m) of the largest power, the mean (frequency 0) not counted
    peak: Tensor  #: (R, k + 1, m) share of the power there; the mean counts to the whole
    residual: Tensor  #: (R, m) |sum of input phases - output phase| at the output's frequency
    size: Tensor  #: (R, m) norms

    @property
    def active(self) -> Tensor:
        """(R, m) whether a neuron is more than dead."""
        return self.size > DEAD * self.size.amax(-1, keepdim=True)

    @property
    def single(self) -> Tensor:
        """(R, m) whether all vectors of a neuron are pure and of the same frequency."""
        same = (self.frequency == self.frequency[:, -1:]).all(1)
        return same & (self.peak > PURE).all(1)


def circuits(network: Network) -> Circuits:
    """Of all neurons; in double precision."""
    vectors = network.vectors().double().mT  # (R, k + 1, m, p)
    peak, place = folded_power(vectors)[..., 1:].max(-1)
    spectrum = torch.fft.rfft(vectors)
    own = (place[:, -1:] + 1)[..., None].expand(*place.shape, 1)
    phases = spectrum.gather(-1, own).squeeze(-1).angle()
    turned = phases[:, :-1].sum(1) - phases[:, -1]
    residual = ((turned + pi) % (2 * pi) - pi).abs()
    return Circuits(place + 1, peak, residual, neuron_norms(network).double())


def contributions(network: Network) -> Tensor:
    """What each frequency 1, 2 ... adds to the mean margin of equally weighted wrong classes.

    In units of gamma* at norm 1, (R, M): they sum to ``Margins.spread`` and are all 1 / M at the
    maximum margin (Lemmas C.14, C.20), where every frequency is used, and equally.
    """
    k, p = network.k, network.p
    spectra = torch.fft.rfft(network.vectors().double(), dim=2)[:, :, 1:]  # (R, k + 1, M, m)
    terms = (spectra[:, :k].prod(1) * spectra[:, k].conj()).real.sum(-1)
    scale = 2 * factorial(k) / ((p - 1) * p**k) / maximum_margin(k, p)
    return scale * terms / norm(network).double()[:, None] ** (k + 1)
