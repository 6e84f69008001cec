"""Data of chapter 2: hidden patterns make the input, and how many relevant ones its label.

A sample is ``x = (M phit - mean) / scale``: ``M`` (d, D) has orthonormal columns, ``phit`` in {0,
1}^D says which patterns are present, and the label depends on ``count``, the number of present
patterns in a set A of k relevant ones (eq. 2.1). With ``scale`` (sigma tilde) inputs have a mean
square norm of one. As ``<w, x> = <M^T w, phi>`` with ``phi = (phit - mean) / scale``, networks
compute in these D *reduced coordinates*, at any d; see :mod:`featlearn.emergence.model`.

Tensors carry a leading replicate axis R; each replicate has a relevant set of its own.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import torch
from torch import Tensor

Kind = Literal["parity", "interval", "prototypes"]


@dataclass(frozen=True)
class Law:
    """Law of the hidden vectors, of their labels, and its exact moments."""

    #: ``parity``: y = +1 if the count is odd. With probability ``background`` all bits are fair
    #: coins; else the relevant bits are all equal and the others Bernoulli(p_o / (2 - 2 p_o))
    #: (D_mix, main simulation). ``interval``: y = +1 if the count lies in ``interval``, or is one
    #: of ``counts``; bits are independent. ``prototypes``: the relevant bits are one of
    #: ``prototypes`` vectors that are drawn once, half of them of each label (hidden
    #: representation, A.7.3).
    kind: Kind
    #: ``patterns`` and ``relevant``: D and k; k is odd for parity.
    patterns: int
    relevant: int
    background: float = 0.5  #: p_o: frequency of an irrelevant pattern; at most 2/3 for parity
    frequency: float = 2 / 3  #: Of a relevant pattern, for ``interval`` with structure
    #: Smallest and largest count that is labelled +1 (t_1, t_2); or all these counts (P).
    interval: tuple[int, int] | None = None
    counts: tuple[int, ...] = ()
    prototypes: int = 100  #: How many; even
    #: False takes the structure of the inputs away: all bits are fair coins, the labels stay.
    structured: bool = True
    negative_share: float = 0.5  #: Share of the label -1, exact in every sample; only for parity
    #: What noise adds to the summed variances: ``d sigma_zeta^2`` (general setting, A.8).
    noise: float = 0.0

    def __post_init__(self) -> None:
        if self.kind == "prototypes" and not self.structured:
            raise ValueError("structured: False; expected True, as prototypes are the structure")

    @classmethod
    def from_config(cls, section: Mapping[str, Any], *, structured: bool = True) -> Law:
        own = dict(section)
        own |= {key: tuple(own[key]) for key in ("interval", "counts") if own.get(key) is not None}
        return cls(**own, structured=structured)

    @property
    def positive(self) -> Sequence[int]:
        """The counts that are labelled +1, of ``interval``."""
        if self.counts:
            return self.counts
        assert self.interval is not None
        return range(self.interval[0], self.interval[1] + 1)

    def label(self, count: Tensor) -> Tensor:
        """+1 or -1 (float32) of the number of relevant patterns; not for ``prototypes``."""
        if self.kind == "parity":
            return (2 * (count % 2) - 1).float()
        return torch.where(
            torch.isin(count, torch.tensor([*self.positive], device=count.device)), 1.0, -1.0
        )

    @property
    def relevant_frequency(self) -> float:
        """Of a relevant pattern: marginal probability; not for ``prototypes``."""
        if self.kind == "parity":
            # E[phit_j | y] = 1/2 + y gamma, and gamma vanishes without structure
            return 0.5 + (1 - 2 * self.negative_share) * self.conditional_gap
        return self.frequency if self.structured else 0.5

    @property
    def irrelevant_frequency(self) -> float:
        return self.background if self.structured else 0.5

    @property
    def conditional_gap(self) -> float:
        """Half of ``E[phit_j | y = 1] - E[phit_j | y = -1]`` for a relevant j, of parity."""
        return (1 - self.background) / 2 if self.structured else 0.0

    @cached_property
    def positive_share(self) -> float:
        """Pr[y = +1]."""
        if self.kind == "interval":
            return self._inside(self.relevant)
        return 1 - self.negative_share if self.kind == "parity" else 0.5

    @cached_property
    def gamma(self) -> float:
        """``E[y phit_j] - E[y] E[phit_j]`` of a relevant pattern (A1), exact.

        Patterns of prototypes differ in it; theirs is the root mean square over tables. By the
        weighted loss, in which both labels weigh the same, it is the :attr:`weighted_gamma`.
        """
        if self.kind == "prototypes":
            # half the difference of two means of P / 2 fair coins
            return 0.5 / math.sqrt(self.prototypes)
        if self.kind == "parity":
            # Cov(y, E[phit | y]) = gap * Var(y)
            return self.conditional_gap * 4 * self.positive_share * (1 - self.positive_share)
        p, mean_label = self.relevant_frequency, 2 * self.positive_share - 1
        return p * (2 * self._inside(self.relevant - 1, shift=1) - 1) - p * mean_label

    @property
    def weighted_gamma(self) -> float:
        """``E[alpha_y y phit_j]`` with ``alpha_y = 1 / (2 Pr[y])``: half the gap of the classes."""
        return self.gamma / (4 * self.positive_share * (1 - self.positive_share))

    def _inside(self, bits: int, shift: int = 0) -> float:
        """Pr that ``bits`` relevant patterns and ``shift`` present ones make a positive count."""
        p = self.relevant_frequency
        return sum(math.comb(bits, c) * p**c * (1 - p) ** (bits - c)
                   for c in range(bits + 1) if c + shift in self.positive)  # fmt: skip

    @property
    def scale(self) -> float:
        """Sigma tilde: root of the summed variances, of prototypes in the mean over tables. With
        the noise; that of :meth:`World.scale` is of the patterns alone."""
        p, o, k = self.relevant_frequency, self.irrelevant_frequency, self.relevant
        own = 0.25 * (1 - 1 / self.prototypes) if self.kind == "prototypes" else p * (1 - p)
        return math.sqrt(k * own + (self.patterns - k) * o * (1 - o) + self.noise)

    def count_law(self) -> Tensor:
        """(2, k + 1) probability of each label (-1, +1) and count; float64, not for prototypes."""
        k = self.relevant
        binomial = torch.tensor([math.comb(k, c) for c in range(k + 1)], dtype=torch.float64)
        if self.kind == "interval":
            p, c = self.relevant_frequency, torch.arange(k + 1)
            law = binomial * p**c * (1 - p) ** (k - c)
        else:
            fair = self.background if self.structured else 1.0
            law = fair * binomial / 2.0**k
            law[[0, k]] += (1 - fair) / 2
        positive = self.label(torch.arange(k + 1)) > 0
        joint = torch.stack([law * ~positive, law * positive])
        wanted = torch.tensor([1 - self.positive_share, self.positive_share], dtype=torch.float64)
        return joint / joint.sum(1, keepdim=True) * wanted[:, None]

    def best_threshold_accuracy(self) -> float:
        """Accuracy of the best threshold on the count; 27/32 of parity, k = 5 and p_o = 1/2."""
        negative, positive = self.count_law()
        # +1 from count s on, or -1 from it on
        rising = positive.flip(0).cumsum(0).flip(0) + negative.cumsum(0) - negative
        falling = negative.flip(0).cumsum(0).flip(0) + positive.cumsum(0) - positive
        return float(torch.cat([rising, falling, positive.sum()[None]]).max())

    def majority_accuracy(self) -> float:
        """Accuracy of the more frequent label."""
        return max(self.positive_share, 1 - self.positive_share)


@dataclass(frozen=True)
class World:
    """What is drawn once a replicate: the relevant set, and prototypes where there are any."""

    law: Law
    relevant: Tensor  #: (R, k) int64: The sets A
    #: (R, P, k) uint8 or None: The prototypes; the first half is labelled +1.
    table: Tensor | None = None

    @classmethod
    def draw(cls, law: Law, streams: Sequence[torch.Generator]) -> World:
        """Relevant sets and prototypes, one a stream."""
        relevant, tables = [], []
        for stream in streams:
            order = torch.randperm(law.patterns, generator=stream)
            relevant.append(order[: law.relevant].sort().values)
            if law.kind == "prototypes":
                tables.append(_prototypes(law, stream))
        return cls(law, torch.stack(relevant), torch.stack(tables) if tables else None)

    def mean(self) -> Tensor:
        """(R, D) exact means of the hidden vectors."""
        law = self.law
        size = (len(self.relevant), law.patterns)
        mean = torch.full(size, law.irrelevant_frequency, dtype=torch.float64)
        own: Any = law.relevant_frequency if self.table is None else self.table.double().mean(1)
        return mean.scatter(
            1, self.relevant, torch.as_tensor(own, dtype=mean.dtype).expand(self.relevant.shape)
        )

    def scale(self) -> Tensor:
        """(R,) sigma tilde."""
        mean = self.mean()
        return (mean * (1 - mean)).sum(1).sqrt()

    def direction(self) -> Tensor:
        """(R, D) unit vector along ``E[y phi]``, the direction of the first step. It is that of
        ``sum_A M_j``, but for prototypes, whose patterns count differently."""
        if self.table is None:
            weight = torch.ones(self.relevant.shape, dtype=torch.float64)
        else:
            first, second = self.table.double().chunk(2, 1)
            weight = first.mean(1) - second.mean(1)
        size = (len(self.relevant), self.law.patterns)
        result = torch.zeros(size, dtype=torch.float64).scatter(1, self.relevant, weight)
        return result / result.norm(dim=1, keepdim=True)


@dataclass(frozen=True)
class Samples:
    """Hidden vectors with all that is latent."""

    hidden: Tensor  #: (R, n, D) uint8: ``phit``
    y: Tensor  #: (R, n) float32: Labels, +1 or -1
    count: Tensor  #: (R, n) int64: Present relevant patterns
    #: (R, n) int64: Of parity: 0 fair coins, 1 all relevant patterns or none; of prototypes: which
    #: one; else -1.
    component: Tensor
    #: (R, n, D) float32: ``(phit - mean) / scale``, with the exact moments of the law: what a
    #: network gets.
    phi: Tensor


def sample(world: World, number: int, streams: Sequence[torch.Generator]) -> Samples:
    """``number`` samples of each replicate. Of parity both labels have their exact share of them
    (25,000 each of 50,000 in the thesis), which no other law asks for."""
    drawn = [_draw(world, replicate, number, stream) for replicate, stream in enumerate(streams)]
    hidden, y, count, component = (torch.stack(each) for each in zip(*drawn, strict=True))
    mean, scale = world.mean().float(), world.scale().float()
    phi = (hidden - mean[:, None]) / scale[:, None, None]
    return Samples(hidden, y, count, component, phi)


def _draw(world: World, replicate: int, number: int, stream: torch.Generator) -> Iterable[Tensor]:
    law, k = world.law, world.law.relevant

    def coins(share: Any, *shape: int) -> Tensor:
        return torch.rand(*shape, generator=stream) < share

    component = torch.full((number,), -1)
    irrelevant = torch.full((number, 1), law.irrelevant_frequency)
    if law.kind == "parity":
        negatives = round(law.negative_share * number)
        y = torch.cat([-torch.ones(negatives), torch.ones(number - negatives)])
        y = y[torch.randperm(number, generator=stream)]
        fair = coins(law.background if law.structured else 1.0, number)
        component = (~fair).long()
        # given the label, fair coins are free up to the last one, which makes the parity
        free = coins(0.5, number, k)
        free[:, -1] = (free[:, :-1].sum(1) % 2 == 0) == (y > 0)
        bits = torch.where(fair[:, None], free, (y > 0)[:, None])
        if law.structured:
            rare = law.background / (2 - 2 * law.background)
            irrelevant = torch.where(fair, 0.5, rare)[:, None]
    elif law.kind == "prototypes":
        assert world.table is not None
        table = world.table[replicate]
        component = torch.randint(len(table), (number,), generator=stream)
        y = torch.where(component < len(table) // 2, 1.0, -1.0)
        bits = table[component].bool()
    else:
        bits = coins(law.relevant_frequency, number, k)
        y = law.label(bits.sum(1))
    hidden = coins(irrelevant, number, law.patterns).to(torch.uint8)
    hidden[:, world.relevant[replicate]] = bits.to(torch.uint8)
    return hidden, y, bits.sum(1), component


def _prototypes(law: Law, stream: torch.Generator) -> Tensor:
    """(P, k) fair coins, no vector twice."""
    while True:
        table = torch.randint(2, (law.prototypes, law.relevant), generator=stream)
        if len({tuple(row) for row in table.tolist()}) == len(table):
            return table.to(torch.uint8)


def dictionary(patterns: int, dimension: int, stream: torch.Generator) -> Tensor:
    """(d, D) orthonormal columns, uniformly distributed; float64."""
    drawn = torch.randn(dimension, patterns, generator=stream, dtype=torch.float64)
    q, r = torch.linalg.qr(drawn)
    return q * r.diagonal().sign()


def incoherent(
    patterns: int, dimension: int, spread: float, stream: torch.Generator
) -> tuple[Tensor, float]:
    """Unit columns that are not orthogonal (appendix A.8), and how incoherent they are.

    Returns columns (d, D), those of :func:`dictionary` plus ``spread / sqrt(d)`` times Gaussians,
    normalised, in float64; and mu, ``sqrt(d)`` times the largest inner product of two of them.
    """
    columns = dictionary(patterns, dimension, stream)
    noise = torch.randn(columns.shape, generator=stream, dtype=torch.float64)
    columns = columns + spread * noise / dimension**0.5
    columns = columns / columns.norm(dim=0)
    inner = (columns.T @ columns).fill_diagonal_(0.0)
    return columns, float(inner.abs().max()) * dimension**0.5


def inputs(
    samples: Samples, world: World, columns: Tensor, noise: float, stream: torch.Generator
) -> Tensor:
    """(R, n, d) inputs of the general setting, ``x = M phi + zeta / scale`` (eq. A.292).

    ``noise``: sigma_zeta, the deviation of a coordinate of zeta, which the scale counts, too:
    ``scale^2 = sum_j Var(phit_j) + d sigma_zeta^2``. ``zeta / sigma_zeta`` is a misprint.
    """
    own = world.scale()
    dimension = len(columns)
    whole = (own.square() + dimension * noise**2).sqrt()
    shape = (*samples.y.shape, dimension)
    zeta = noise * torch.randn(shape, generator=stream, dtype=columns.dtype)
    raw = samples.phi.to(columns.dtype) @ columns.T * own[:, None, None]
    return (raw + zeta) / whole[:, None, None]


def alpha_mixture(
    labelled: Tensor, injected: Tensor, share: float, stream: torch.Generator
) -> tuple[Tensor, Tensor]:
    """Replace a share alpha of the labelled inputs by injected ones (A.7.5).

    Of ``labelled`` (n, d) and ``injected`` (m, d) the mixture x (n, d), ``round(alpha n)`` of its
    rows injected, and which those are (n,). Raises ``ValueError`` if ``share`` is not in [0, 1], or
    there are too few injected inputs.
    """
    if not 0 <= share <= 1:
        raise ValueError(f"share: {share}; expected a number from 0 to 1")
    number = len(labelled)
    new = round(share * number)
    if new > len(injected):
        raise ValueError(f"injected: {len(injected)} rows; expected at least {new}")
    kept = torch.randperm(number, generator=stream)[: number - new]
    taken = torch.randperm(len(injected), generator=stream)[:new]
    order = torch.randperm(number, generator=stream)
    is_injected = torch.arange(number) >= number - new
    return torch.cat([labelled[kept], injected[taken]])[order], is_injected[order]


@dataclass(frozen=True)
class Hypercube:
    """Gaussians at the corners of a cube, labelled by the parity of the signs (eq. A.288)."""

    #: ``dimension`` and ``relevant``: d and k: 2^k clusters.
    dimension: int
    relevant: int
    noise: float  #: sigma_r; a coordinate has the standard deviation ``sigma_r sqrt(k / d)``

    @property
    def noise_std(self) -> float:
        """Of a coordinate, and of the noise along each pattern."""
        return self.noise * math.sqrt(self.relevant / self.dimension)

    def signs(self) -> Tensor:
        """(2^k, k) the corners, +1 and -1."""
        bits = torch.cartesian_prod(*[torch.tensor([-1.0, 1.0])] * self.relevant)
        return bits.reshape(-1, self.relevant)

    def sample(
        self, columns: Tensor, number: int, stream: torch.Generator
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Inputs (n, d), labels (n,), and which corner of :meth:`signs` (n,). ``columns`` (d, k)
        are the patterns, of :func:`dictionary`."""
        corners = self.signs().to(columns.dtype)
        cluster = torch.randint(len(corners), (number,), generator=stream)
        noise = torch.randn(number, self.dimension, generator=stream, dtype=columns.dtype)
        signs = corners[cluster]
        return signs @ columns.T + self.noise_std * noise, signs.prod(1), cluster
