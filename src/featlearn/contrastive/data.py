"""Sparse coding data with dense noise (Definition 2.1), RandomMask and downstream labels.

Axes of tensors: R replicates, n samples, D coordinates of a sample (the paper's ``d_1``), d atoms.
A replicate's draws depend on its own random stream only.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import torch
from torch import Tensor

from featlearn.core.seeds import draws

DictionaryKind = Literal["hadamard", "qr", "spiky"]
#: How the two views of a sample are masked.
Masking = Literal["complementary", "independent", "none"]
#: Range of the magnitudes of the downstream direction ``w*`` (ours: the paper asks for order 1).
LABEL_RANGE = (0.5, 1.5)
#: Every 64-bit word is a valid draw, so all its bits are fair coins.
SMALLEST_WORD = -(2**63)


@dataclass(frozen=True)
class SparseCoding:
    """``x = M z + xi`` (Definition 2.1)."""

    #: Number of atoms, the paper's ``d``; at least 3, since ``log log d`` must be positive.
    atoms: int
    dimension: int  #: Coordinates of a sample, the paper's ``d_1``; at least ``atoms``
    activity: float = 1.0  #: ``C_z``: about ``C_z log log d`` atoms are active in a sample
    noise: float = 1.0  #: ``c_xi``: scales the variance of the dense noise
    #: ``hadamard`` (entries ``+-1/sqrt(d_1)``), ``qr`` (a random orthonormal frame) or ``spiky``
    #: (columns of the identity, which violate the paper's bound on the entries of M).
    dictionary: DictionaryKind = "hadamard"

    def __post_init__(self) -> None:
        if self.atoms < 3:
            raise ValueError(f"atoms: {self.atoms}; expected at least 3")
        if self.dimension < self.atoms:
            raise ValueError(f"dimension: {self.dimension}; expected at least atoms ({self.atoms})")
        if self.dictionary == "hadamard" and self.dimension & (self.dimension - 1):
            raise ValueError(f"dimension: {self.dimension}; expected a power of 2 for hadamard")
        if not 0 < self.p <= 1:
            raise ValueError(f"activity: {self.activity}; gives p = {self.p:.3g}, not in (0, 1]")

    @classmethod
    def from_config(cls, data: Mapping[str, Any]) -> SparseCoding:
        """From the group ``data`` of an experiment; keys of other things are passed over."""
        names = ("atoms", "dimension", "activity", "noise", "dictionary")
        return cls(**{name: data[name] for name in names if name in data})

    @property
    def p(self) -> float:
        """``Pr(z_j != 0) = E z_j^2 = C_z log log d / d``."""
        return self.activity * math.log(math.log(self.atoms)) / self.atoms

    @property
    def variance(self) -> float:
        """``sigma_xi^2 = c_xi sqrt(log d) / d``, of one coordinate of the noise."""
        return self.noise * math.sqrt(math.log(self.atoms)) / self.atoms

    @property
    def sigma(self) -> float:
        """Standard deviation of one coordinate of the noise."""
        return math.sqrt(self.variance)


@dataclass(frozen=True)
class Dictionary:
    """Orthonormal atoms and a basis of their complement."""

    atoms: Tensor  #: (R, D, d): ``M``, float64 as drawn
    #: (R, D, D - d) or None: ``M^perp``, the dense directions; flat (all entries of size
    #: ``1/sqrt(D)``) for ``hadamard``. None where it was not asked for.
    dense: Tensor | None = None

    def to(self, device: torch.device | str, dtype: torch.dtype = torch.float32) -> Dictionary:
        """The same directions elsewhere, rounded once."""
        dense = None if self.dense is None else self.dense.to(device=device, dtype=dtype)
        return Dictionary(self.atoms.to(device=device, dtype=dtype), dense)

    def complement(self) -> Tensor:
        """``dense``, or an error that says how to get it."""
        if self.dense is None:
            raise ValueError("dictionary: drawn without its complement; pass complement=True")
        return self.dense


def hadamard(rows: int, columns: Tensor) -> Tensor:
    """Columns of the Sylvester-Hadamard matrix: ``(-1)^popcount(row & column)``, float64."""
    bits = torch.arange(rows).unsqueeze(1) & columns.unsqueeze(0)
    shift = 1
    while shift < rows:  # fold all bits into the lowest: their parity
        bits = bits ^ (bits >> shift)
        shift *= 2
    return 1.0 - 2.0 * (bits & 1).double()


def draw_dictionary(
    spec: SparseCoding, streams: Sequence[torch.Generator], *, complement: bool = False
) -> Dictionary:
    """Draw ``M`` for every replicate, a generator each; ``complement``: dense directions too."""
    atoms, dense = [], []
    for stream in streams:
        basis = _basis(spec, stream, spec.dimension if complement else spec.atoms)
        atoms.append(basis[:, : spec.atoms])
        dense.append(basis[:, spec.atoms :])
    return Dictionary(torch.stack(atoms), torch.stack(dense) if complement else None)


def _basis(spec: SparseCoding, stream: torch.Generator, columns: int) -> Tensor:
    """The first columns of an orthonormal basis (D, columns); the atoms do not depend on it."""
    rows = spec.dimension
    if spec.dictionary == "qr":
        gaussian = torch.randn((rows, rows), generator=stream, dtype=torch.float64)
        q, r = torch.linalg.qr(gaussian[:, :columns])
        return q * r.diagonal().sign()
    chosen = torch.randperm(rows, generator=stream)[:columns]
    if spec.dictionary == "spiky":
        return torch.eye(rows, dtype=torch.float64)[:, chosen]
    signs = 1.0 - 2.0 * torch.randint(2, (rows, 1), generator=stream).double()
    return signs * hadamard(rows, chosen) / math.sqrt(rows)


@dataclass(frozen=True)
class Samples:
    """What was drawn: ``x`` (R, n, D), ``z`` (R, n, d) in {-1, 0, 1}, ``xi`` (R, n, D)."""

    x: Tensor
    z: Tensor
    xi: Tensor

    def signal(self) -> Tensor:
        """``M z`` (R, n, D)."""
        return self.x - self.xi


def sample(
    spec: SparseCoding, atoms: Tensor, count: int, streams: Sequence[torch.Generator]
) -> Samples:
    """Draw ``count`` samples a replicate.

    ``atoms`` (R, D, d): ``M``; its type and device are those of the result. ``streams``: one
    generator a replicate, on the device of ``atoms``; each is advanced.
    """
    z, xi = [], []
    for stream in streams:
        options: dict[str, Any] = {
            "generator": stream,
            "dtype": atoms.dtype,
            "device": atoms.device,
        }
        u = torch.rand((count, spec.atoms), **options)
        z.append((u < spec.p / 2).to(atoms.dtype) - (u >= 1 - spec.p / 2).to(atoms.dtype))
        xi.append(spec.sigma * torch.randn((count, spec.dimension), **options))
    z_all, xi_all = torch.stack(z), torch.stack(xi)
    return Samples(torch.baddbmm(xi_all, z_all, atoms.mT), z_all, xi_all)


def random_masks(
    count: int,
    dimension: int,
    streams: Sequence[torch.Generator],
    device: torch.device | str = "cpu",
    dtype: torch.dtype = torch.float32,
) -> Tensor:
    """``diag(D)`` of RandomMask (Definition 2.3): (R, count, dimension) of fair zeros and ones."""
    words = -(-count * dimension // 8)
    masks = []
    for stream in streams:
        drawn = torch.empty(words, dtype=torch.int64, device=device)
        drawn.random_(SMALLEST_WORD, None, generator=stream)
        bits = (drawn.view(torch.uint8) & 1).to(dtype)
        masks.append(bits[: count * dimension].view(count, dimension))
    return torch.stack(masks)


def positives(
    x: Tensor, streams: Sequence[torch.Generator], masking: Masking
) -> tuple[Tensor, Tensor]:
    """The anchor ``x+`` and its positive ``x++`` of every sample, both (R, K, D).

    ``complementary`` is RandomMask, ``2 D x`` and ``2 (I - D) x``; ``independent`` draws a second
    mask (our control); ``none`` returns the sample twice.
    """
    if masking == "none":
        return x, x
    count, dimension = x.shape[1:]
    mask = random_masks(count, dimension, streams, x.device, x.dtype)
    first = 2 * mask * x
    if masking == "complementary":
        return first, 2 * x - first
    return first, 2 * random_masks(count, dimension, streams, x.device, x.dtype) * x


def label_direction(spec: SparseCoding, streams: Sequence[torch.Generator]) -> Tensor:
    """``w*`` (R, d) of Definition 3.1: magnitudes uniform in :data:`LABEL_RANGE`, random signs."""
    low, high = LABEL_RANGE
    size = draws(torch.rand, streams, spec.atoms, dtype=torch.float64)
    sign = 1.0 - 2.0 * draws(partial(torch.randint, 2), streams, spec.atoms).double()
    return sign * (low + (high - low) * size)


def responses(z: Tensor, direction: Tensor) -> Tensor:
    """``y = <w*, z>`` (R, n): the regression target; its sign is the class, and 0 is neither."""
    return torch.bmm(z, direction.to(z.dtype).unsqueeze(-1)).squeeze(-1)
