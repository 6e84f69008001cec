"""Which neurons the first step turns into directions: cones, sizes, and the proofs' *sure* starts.

A gradient feature (Definition 3.6) is a direction D whose cone ``|<G, D>| > (1 - gamma) |G|`` holds
G(w, b), of length at least B_G, with probability at least p over the start.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor

from featlearn.gradient_features.data import GaussianMixture, MultiIndex, Parity, UniformParity, Xor
from featlearn.gradient_features.law import Law, Sample, normal_cdf, reduced_weights
from featlearn.gradient_features.model import (
    Network,
    multi_index_start,
    symmetric_start,
    uniform_parity_start,
)


def alignment(law: Law, vectors: Tensor) -> Tensor:
    """Largest |cosine| of vectors (..., d) with a direction; 0 for vectors of length 0.

    Of the multiple-index model the share of the length that lies in the relevant space.
    """
    units = law.directions[:, : vectors.shape[-1]].to(vectors)
    along = vectors @ units.mT
    length = vectors.norm(dim=-1).clamp_min(torch.finfo(vectors.dtype).tiny)
    result = along.norm(dim=-1) if isinstance(law, MultiIndex) else along.abs().amax(-1)
    return result / length


def start_of(
    law: Law, streams: list[torch.Generator], neurons: int, ratio: float
) -> tuple[Network, int]:
    """The start that the thesis gives a law, and how many of its first neurons are not copies.

    ``neurons``: m. ``ratio``: threshold in units of ``law.signal_std`` (sigma_w = 1); the starts of
    uniform parity and multiple-index data have thresholds of their own.
    """
    if isinstance(law, UniformParity):
        return uniform_parity_start(streams, neurons, law.dimension, law.block), neurons
    if isinstance(law, MultiIndex):
        return multi_index_start(streams, neurons, law.dimension), neurons
    threshold = ratio * law.signal_std
    return symmetric_start(streams, neurons, law.dimension, threshold), 2 * neurons


def sampling_noise(network: Network, inputs: Sample, result: Tensor) -> Tensor:
    """Variance of the sampled gradients around ``result``, G (R, M, d): E|G_n - G|^2, (R, M)."""
    active = (inputs.x @ network.w.mT > network.b[:, None]).to(inputs.x.dtype)
    squares = inputs.weight * inputs.y.square() * inputs.x.square().sum(-1)
    second = (active.mT @ squares[..., None]).squeeze(-1)
    return (second - result.square().sum(-1)).clamp_min(0) / inputs.x.shape[1]


class Sure(NamedTuple):
    """On z_j = <w, D_j>: when a start is sure of direction 1 (Definitions B.29, B.46)."""

    low: float  #: z_1 at least
    high: float  #: the other z_j at most
    two_sided: bool  #: also at least minus that
    others: int

    @property
    def probability(self) -> float:
        """Of the event, exact for w ~ N(0, I)."""
        inside = math.erf(self.high / math.sqrt(2))
        other = inside if self.two_sided else (1 + inside) / 2
        return math.erfc(self.low / math.sqrt(2)) / 2 * other**self.others


def sure_event(law: Law, ratio: float) -> Sure:
    """C_1 and C_2 of the proofs, for thresholds of ``ratio`` times ``law.signal_std``.

    Bounds on norms are left out. Raises ``ValueError`` for laws whose proofs have no such event.
    """
    if isinstance(law, Xor):  # B.37, with b = sqrt(tau d log log d) sigma_B and so C_2 b the last
        return Sure(1.2 * ratio, math.sqrt(2) * law.noise, True, 1)
    if isinstance(law, GaussianMixture):  # B.29
        return Sure(1.5 * ratio, ratio / 2, False, law.own - 1)
    if isinstance(law, Parity):  # B.46
        unit = ratio * math.sqrt(law.blocks)
        return Sure(1.5 * unit, unit / 2, True, law.blocks - 1)
    raise ValueError(f"{type(law).__name__}: no proof of the thesis has sure starts of it")


def sure_weights(law: Law, ratio: float, count: int, random: torch.Generator) -> Tensor:
    """Weights N(0, I) given the sure event, in the coordinates of ``law.reduced()``.

    Each coordinate along a direction is drawn by the inverse of its cut distribution function, so
    that events of probability 1e-30 are as cheap as others.
    """
    event = sure_event(law, ratio)
    w = reduced_weights(law, count, random)
    units = law.directions[:, : law.own]
    share = torch.rand(count, len(units), generator=random, dtype=torch.float64)

    def below(bound: float) -> float:
        return math.erfc(-bound / math.sqrt(2)) / 2

    wanted = -torch.special.ndtri(share * below(-event.low))
    least = below(-event.high) if event.two_sided else 0.0
    other = torch.special.ndtri(least + share * (below(event.high) - least))
    wanted[:, 1:] = other[:, 1:]
    own = w[:, : law.own]
    w[:, : law.own] = own + (wanted - own @ units.mT) @ units
    return w


def cone_of_sure(law: Law, ratio: float, w: Tensor) -> tuple[Tensor, Tensor]:
    """1 - |cos(G, D_1)| and |G| of weights in reduced coordinates with the threshold of a ratio."""
    threshold = torch.full((len(w),), ratio * law.signal_std, dtype=w.dtype)
    result = law.reduced().gradient(w, threshold)
    unit = law.directions[0, : result.shape[1]].to(result)
    size = result.norm(dim=1)
    return 1 - (result @ unit).abs() / size, size


def activation(law: Law, w: Tensor, b: Tensor) -> Tensor:
    """Probability (N, components) that neurons w (N, d), b (N,) are active, by component.

    Clusters of a mixture; of a parity the uniform inputs, then each structured part. Background of
    a parity as Gaussian, as in :meth:`Parity.gradient`. Raises ``ValueError`` otherwise.
    """
    if isinstance(law, GaussianMixture):
        return normal_cdf(law.activation(w, b))
    if isinstance(law, Parity):
        signal, weight, component = law.patterns()
        std = math.sqrt(2 * law.background) * w[:, law.own :].norm(dim=-1, keepdim=True)
        active = normal_cdf((w[:, : law.own] @ signal.mT - b[:, None]) / std)
        own = torch.nn.functional.one_hot(component + 1).double() * weight[:, None]
        return active @ (own / own.sum(0))
    raise ValueError(f"{type(law).__name__}: has no components")


def background_tail(law: Parity, t: Tensor) -> Tensor:
    """log P(|sum over the background of w_l phi_l| >= t), w ~ N(0, I); t (T,), exact. Given that N
    of the phi_l are not 0 the sum is N(0, N): a mixture over a binomial N."""
    others, chance = law.dimension - law.own, 2 * law.background
    count = torch.arange(1, others + 1, dtype=torch.float64)
    ways = math.lgamma(others + 1) - torch.lgamma(count + 1) - torch.lgamma(others - count + 1)
    odds = count * math.log(chance) + (others - count) * math.log1p(-chance)
    tails = math.log(2) + torch.special.log_ndtr(-t[:, None] / count.sqrt())
    return torch.logsumexp(ways + odds + tails, -1)


def xor_ratio(dimension: int, noise: float) -> float:
    """Threshold of Lemma B.37 over sqrt(d), tau as 1: sqrt(log log d) sigma_B."""
    return math.sqrt(math.log(math.log(dimension))) * noise
