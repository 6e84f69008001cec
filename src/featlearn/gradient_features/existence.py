"""Nice neurons, and the network that the proofs build of them (Lemmas 3.13, 3.14), of clusters.

After the first step a neuron is ``w = a G(w_0, b)`` (rate 1, hinge loss). It is *nice* for a
cluster centre where it lies in its cone, on the right side, with |G| of at least B_G (Definition
B.4). Lemma 3.14 averages the few whose length fits the threshold of the comparator g*.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor

from featlearn.gradient_features.data import GaussianMixture
from featlearn.gradient_features.law import reduced_weights
from featlearn.gradient_features.model import Network

#: Exponent of Lemma B.5: Chernoff's for a binomial below half of its mean m p / 2, over m p.
CHERNOFF = (1 - math.log(2)) / 4


class Neurons(NamedTuple):
    """Neurons of positive threshold drawn at a start, in the coordinates of ``law.reduced()``."""

    g: Tensor  #: (N, own + 1), G(w_0, b)
    a: Tensor  #: (N,), N(0, 1)

    @property
    def size(self) -> Tensor:
        """|G| (N,)."""
        return self.g.norm(dim=-1)


def draw(law: GaussianMixture, ratio: float, count: int, random: torch.Generator) -> Neurons:
    """``count`` neurons with a threshold of ``ratio`` times ``law.signal_std``."""
    w = reduced_weights(law, count, random)
    b = torch.full((count,), ratio * law.signal_std, dtype=w.dtype)
    a = torch.randn(count, generator=random, dtype=w.dtype)
    return Neurons(law.reduced().gradient(w, b), a)


def nice(law: GaussianMixture, neurons: Neurons, gamma: float, least: float) -> Tensor:
    """Whether a neuron is nice for a cluster, (N, r) bool; ``least`` is B_G."""
    units = law.means[:, : law.own + 1] / law.signal_std
    cosine = (neurons.g @ units.mT) * neurons.a.sign()[:, None] / neurons.size[:, None]
    return (cosine > 1 - gamma) & (neurons.size >= least)[:, None]


def hit_probability(law: GaussianMixture, neurons: Neurons, gamma: float, least: float) -> float:
    """p: that G lies in the two-sided cone of a centre, mean over the centres."""
    # of those in the cone half are nice, by the sign of a
    of_all = nice(law, neurons, gamma, least).double().sum(1).mean().item()
    return of_all * 2 / len(law.labels)


class Bounds(NamedTuple):
    """What Lemma B.6 is made of, for the comparator g* of Lemmas B.34 and B.41 with a margin."""

    r: int  #: neurons of g*
    a: float  #: B_a1, output weights of g*
    b: float  #: B_b, its threshold
    x: float  #: B_x1
    g: float  #: B_G

    def slack(self, hits: float) -> float:
        """B_eps of Theorem B.11; ``hits`` is m p."""
        return self.x / hits**0.25 * math.sqrt(self.b / self.g)

    def window(self, hits: float) -> float:
        """eps_a: how far a nice neuron's scale may be from what g* asks for."""
        return self.x * self.b / (math.sqrt(hits) * self.g * self.slack(hits))

    def excess(self, hits: float, gamma: float) -> float:
        """The printed bound on loss above g* (B.25)."""
        width = self.x * (self.window(hits) + math.sqrt(2 * gamma))
        return self.r * self.a * (width + self.slack(hits))


def bounds(law: GaussianMixture, margin: float, least: float) -> Bounds:
    """At g* = :func:`featlearn.gradient_features.model.mixture_truth` with this ``margin``."""
    size = law.signal_std + law.noise * math.sqrt(law.dimension)
    return Bounds(len(law.labels), 1 / margin, 2 * margin, size, least)


def good_network(
    law: GaussianMixture, neurons: Neurons, ratio: float, gamma: float, of: Bounds, hits: float,
    random: torch.Generator,
) -> Network:  # fmt: skip
    """The network of Lemma B.6 from these ``neurons``: those that it leaves out have no weight.

    ``ratio``, ``gamma``: as the neurons were drawn; width of the cones. ``hits``: m p. ``random``:
    of what the neurons have beside the centres, which :func:`draw` leaves open. Returns one
    replicate. No neuron of a cluster may fit: then g* has no counterpart there.
    """
    threshold = ratio * law.signal_std
    sigma = threshold / (of.g * of.slack(hits))
    scale = sigma * neurons.a.abs() * neurons.size * of.b / threshold
    fits = (scale - 1).abs() <= of.window(hits)
    chosen = nice(law, neurons, gamma, of.g) & fits[:, None]
    index, cluster = chosen.nonzero().unbind(1)
    share = 1 / chosen.sum(0)[cluster]
    output = law.labels[cluster] * of.a * of.b / threshold * share
    rest = torch.randn(len(index), law.dimension - law.own, generator=random, dtype=share.dtype)
    g = neurons.g[index]
    rest = rest * (g[:, law.own :] / rest.norm(dim=1, keepdim=True))
    w = sigma * neurons.a[index, None] * torch.cat([g[:, : law.own], rest], 1)
    return Network(w[None], output[None], torch.full_like(output, threshold)[None])
