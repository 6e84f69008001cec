"""Patch data with a strong and a weak feature, and the views that share no patch.

Definition 3.1, Assumption 3.3 and equation (3.2). The features are the first two coordinate axes,
``v_1 = e_1`` and ``v_2 = e_2``: everything is equivariant under rotations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor

Noise = Literal["gaussian", "sphere"]
Presence = Literal["one", "both"]
#: Number of features: a strong one (index 0, the paper's ``v_1``) and a weak one.
FEATURES = 2


@dataclass(frozen=True)
class PatchData:
    """The law of a sample."""

    dimension: int  #: ``d`` of a patch, features included
    patches: int  #: ``P``, even
    feature_patches: int  #: ``P_0 = |S(X)|``, patches of a present feature
    strengths: tuple[float, float]  #: ``(alpha_1, alpha_2)``
    #: ``s``: the noise has covariance ``s**2`` times the projection ``Pi`` orthogonal to the
    #: features.
    noise_std: float = 1.0
    #: ``gaussian``, or ``sphere``: uniform on the sphere of radius ``s * sqrt(d - 2)``. Both meet
    #: Assumption 3.3 with ``rho = 0``: they are isotropic and symmetric.
    noise: Noise = "gaussian"
    #: ``one``: a sample shows one feature. ``both``: it shows both, each on ``P_0`` patches of its
    #: own and with a sign of its own (Remark 3.2).
    presence: Presence = "one"
    #: Probability that the one feature is the strong one: 1/2 in Definition 3.1, more for imbalance
    #: by frequency (Remark 3.2). Not used where both are present.
    strong_share: float = 0.5

    def __post_init__(self) -> None:
        shown = self.feature_patches * (2 if self.presence == "both" else 1)
        if self.patches % 2:
            raise ValueError(f"patches: {self.patches}; expected an even number: views take half")
        if not 1 <= self.feature_patches <= shown <= self.patches:
            raise ValueError(
                f"feature_patches: {self.feature_patches}; expected at least 1 and room for "
                f"{shown} among {self.patches} patches"
            )
        if self.dimension <= FEATURES:
            raise ValueError(f"dimension: {self.dimension}; expected more than {FEATURES}")

    @classmethod
    def from_config(cls, data: Mapping[str, Any]) -> PatchData:
        """From the ``data`` group of an experiment's config."""
        return cls(**{**data, "strengths": tuple(data["strengths"])})

    @property
    def shown(self) -> tuple[float, float]:
        """Probability that a sample shows the strong, the weak feature."""
        if self.presence == "both":
            return 1.0, 1.0
        return self.strong_share, 1 - self.strong_share

    @property
    def noise_patches(self) -> int:
        """Patches of a sample that hold noise."""
        return self.patches - self.feature_patches * (2 if self.presence == "both" else 1)

    @property
    def noise_power(self) -> float:
        """``E <u, xi>**6 / 15`` for a unit ``u`` orthogonal to the features.

        ``s**6`` for Gaussian noise. On the sphere every sixth moment is that of the Gaussian times
        ``n**2 / ((n + 2) (n + 4))`` with ``n = d - 2``, so that population formulas hold for both.
        """
        n = self.dimension - FEATURES
        factor = n**2 / ((n + 2) * (n + 4)) if self.noise == "sphere" else 1.0
        return factor * self.noise_std**6


@dataclass(frozen=True)
class Samples:
    """A batch for each of R replicates."""

    x: Tensor  #: (R, N, P, d) patches
    present: Tensor  #: (R, N, 2) bool: which features a sample shows
    sign: Tensor  #: (R, N, 2): +-1, the sign of each feature
    owner: Tensor  #: (R, N, P): index of the feature on a patch, -1 for noise


def _owners(spec: PatchData, present: Tensor, rank: Tensor) -> Tensor:
    """Which feature lies on which patch: the patches of lowest ``rank`` hold the features."""
    first, second = spec.feature_patches, 2 * spec.feature_patches
    owner = torch.full_like(rank, -1)
    if spec.presence == "both":
        owner[rank < second] = 1
        owner[rank < first] = 0
        return owner
    which = present[..., 1:].long().expand_as(rank)
    return torch.where(rank < first, which, owner)


def sample(
    spec: PatchData,
    count: int,
    streams: Sequence[torch.Generator],
    dtype: torch.dtype = torch.float32,
) -> Samples:
    """``count`` samples a replicate, on the CPU; each stream draws its own replicate."""
    x = torch.empty(len(streams), count, spec.patches, spec.dimension, dtype=dtype)
    parts = [_sample_one(spec, own, stream) for own, stream in zip(x, streams, strict=True)]
    return Samples(x, *(torch.stack(tensors) for tensors in zip(*parts, strict=True)))


def _sample_one(
    spec: PatchData, x: Tensor, stream: torch.Generator
) -> tuple[Tensor, Tensor, Tensor]:
    """Fill ``x`` (N, P, d), which is large: in place, in as few passes as can be."""
    count, dtype = len(x), x.dtype
    strong = torch.rand(count, generator=stream) < spec.strong_share
    present = torch.stack([strong, ~strong], -1)
    if spec.presence == "both":
        present = torch.ones_like(present)
    sign = torch.randint(0, 2, (count, FEATURES), generator=stream).to(dtype) * 2 - 1
    owner = _owners(spec, present, torch.rand(count, spec.patches, generator=stream).argsort(-1))
    x.normal_(generator=stream)
    scale = spec.noise_std * (owner < 0).to(dtype)  # a feature patch holds no noise
    if spec.noise == "sphere":
        scale *= (spec.dimension - FEATURES) ** 0.5 / x[..., FEATURES:].norm(dim=-1)
    x *= scale.unsqueeze(-1)
    for feature, strength in enumerate(spec.strengths):
        own = (owner == feature).to(dtype)
        x[..., feature] = own * (strength * sign[:, feature : feature + 1])
    return present, sign, owner


def views(
    patches: int, count: int, streams: Sequence[torch.Generator], dtype: torch.dtype = torch.float32
) -> Tensor:
    """(R, N, P) of zeros and ones: the half of the patches in the first view (eq. 3.2)."""
    drawn = torch.stack([torch.rand(count, patches, generator=stream) for stream in streams])
    # a random order of the patches is as good a random ranking of them
    return (drawn.argsort(-1) < patches // 2).to(dtype)


@dataclass(frozen=True)
class ViewMoments:
    """Moments of ``h``, the number of a feature's patches in the first view (hypergeometric)."""

    both: float  #: ``E[h (P_0 - h)]``
    square: float  #: ``E[h**2]``
    noise: float  #: Expected number of noise patches in one view; the paper's ``C_2``


def view_moments(spec: PatchData) -> ViewMoments:
    """Exact moments; the paper's ``C_0``, ``C_1`` are half of ``both``, ``square`` (class 1/2)."""
    p, p0 = spec.patches, spec.feature_patches
    both = p0 * (p0 - 1) * p / (4 * (p - 1))
    square = p0 / 2 + p0 * (p0 - 1) * (p - 2) / (4 * (p - 1))
    return ViewMoments(both, square, spec.noise_patches / 2)
