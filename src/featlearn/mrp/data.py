"""The multi-view distribution D: samples made of patches, several features a class (Def. 3.1).

Tensors carry a leading replicate axis R; a replicate's draws depend on its random stream only. N
samples have P patches of dimension d, of k classes with L features each (the paper has L = 2); the
flat index of a feature is ``L * i + l``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor

from featlearn.core.seeds import Streams, draws
from featlearn.mrp.model import Activation, fixed_block_head, initial_kernels


@dataclass(frozen=True)
class MultiView:
    """Parameters of the multi-view distribution; the paper's symbols are in brackets.

    - Sizes: ``classes`` [k], ``dimension`` [d], ``patches`` [P], ``patches_per_feature`` [C_p],
      ``features_per_class``.
    - ``sparsity`` [s]: a feature of another class is present with probability ``s / k``.
    - ``single_view_share`` [mu]: probability that a sample is single-view: one feature of its class
      strong, the others weak, with ``weak_strength`` [rho] times the total of a main one.
    - ``feature_noise`` [gamma]: every patch holds every feature with a strength uniform up to it.
    - ``noise`` [sigma_p sqrt(d)]: expected norm of the Gaussian noise of a feature patch. The paper
      prints ``N(0, sigma_p I)``, but its proof needs the variance ``sigma_p**2``.
    - ``main_strength``, ``off_strength``: ranges of the total strength of a present feature; the
      main one is multiplied by ``C_p**(1 - 1/q)``, so that the sum of ``z_p**q`` is at least 1.
    - ``split``: of a total among its ``C_p`` patches, ``equal`` or ``dirichlet`` (uniform on the
      simplex). ``q``: exponent of the activation.
    """

    classes: int
    dimension: int
    patches: int
    sparsity: float
    q: int
    patches_per_feature: int = 1
    features_per_class: int = 2
    single_view_share: float = 0.0
    weak_strength: float = 0.1
    feature_noise: float = 5e-4
    noise: float = 0.02
    main_strength: Sequence[float] = (1.0, 1.5)
    off_strength: Sequence[float] = (0.2, 0.4)
    split: Literal["equal", "dirichlet"] = "equal"

    @classmethod
    def from_config(cls, data: Mapping[str, Any], q: int) -> MultiView:
        """The distribution that a ``data`` section of the config describes."""
        names = {field.name for field in fields(cls)}
        return cls(q=q, **{key: value for key, value in data.items() if key in names})

    @property
    def features(self) -> int:
        """Number of features in all, ``k * L``."""
        return self.classes * self.features_per_class

    @property
    def main_scale(self) -> float:
        """Factor on the strength of a main feature, ``C_p**(1 - 1/q)``."""
        return self.patches_per_feature ** (1 - 1 / self.q)

    @property
    def background_std(self) -> float:
        """Standard deviation a coordinate of the noise on patches without a feature."""
        return self.feature_noise * self.classes / self.dimension**0.5


class Samples(NamedTuple):
    """Samples with all that they were made from."""

    x: Tensor  #: (R, N, P, d), patches
    y: Tensor  #: (R, N) int64, class
    strong: Tensor  #: (R, N) int64, which feature is strong in a single-view sample; -1: multi-view
    active: Tensor  #: (R, N, k, L) bool, which features are present
    total: Tensor  #: (R, N, k, L), total strength ``Z_v``; 0 where absent
    strength: Tensor  #: (R, N, P), strength ``z_p`` of the feature on each patch; 0 without one
    owner: Tensor  #: (R, N, P) int64, flat index of the feature on each patch; -1 for none

    @property
    def is_single(self) -> Tensor:
        """(R, N) bool: single-view samples."""
        return self.strong >= 0

    def to(self, device: torch.device | str) -> Samples:
        return Samples(*(part.to(device) for part in self))

    @classmethod
    def joined(cls, parts: Iterable[Samples]) -> Samples:
        """Samples of several replicates or points as one."""
        return cls(*(torch.cat(tensors) for tensors in zip(*parts, strict=True)))


def orthonormal_features(spec: MultiView, streams: Sequence[torch.Generator]) -> Tensor:
    """Feature directions, one orthonormal set a replicate.

    Returns a Tensor: ``(R, k, L, d)`` float64: the Q factor of a Gaussian matrix, signs fixed so
    that it does not depend on the linear-algebra library.
    """
    sets = []
    for stream in streams:
        gaussian = torch.randn(spec.dimension, spec.features, generator=stream, dtype=torch.float64)
        q, r = torch.linalg.qr(gaussian)
        q = q * torch.sign(torch.diagonal(r))
        sets.append(q.T.reshape(spec.classes, spec.features_per_class, spec.dimension))
    return torch.stack(sets)


def sample(
    spec: MultiView,
    features: Tensor,
    count: int,
    streams: Sequence[torch.Generator],
    *,
    single_view: bool | None = None,
    noiseless: bool = False,
    dtype: torch.dtype = torch.float32,
) -> Samples:
    """Draw ``count`` samples a replicate.

    ``features`` (R, k, L, d), ``streams``: one set, one generator a replicate. ``single_view``: all
    samples single-view or multi-view; None draws with probability ``spec.single_view_share``.
    ``noiseless``: the same samples without their Gaussian noise ``xi_p``. Raises ValueError if a
    sample holds more features than its patches have room for.
    """
    if len(streams) != features.shape[0]:
        raise ValueError(f"streams: {len(streams)}; expected one a replicate ({features.shape[0]})")
    drawn = [
        _sample_one(spec, features[r].double(), count, stream, single_view, noiseless, dtype)
        for r, stream in enumerate(streams)
    ]
    return Samples(*(torch.stack(tensors) for tensors in zip(*drawn, strict=True)))


def packed(samples: Samples, parts: int = 1) -> list[Samples]:
    """The same samples without the patches that hold no feature, in parts of similar length.

    The paper has at least as many patches as features, of which a sample fills a few: the others
    cost most of a training step. They are dropped here, **and with them the background noise**; its
    size, at most ``gamma * k`` a patch, is far below that of a feature. Shorter samples of a part
    are filled up with zeros, which contribute exactly nothing, as ``R(0) = 0``.

    ``parts``: how many, each of about ``N / parts`` samples of every replicate. Returns the parts,
    shortest samples first; P differs from part to part.
    """
    replicate = torch.arange(samples.y.shape[0], device=samples.y.device)[:, None]
    filled = (samples.owner >= 0).sum(-1)
    order = torch.argsort(filled, dim=1, stable=True)
    packs = []
    for chosen in order.tensor_split(parts, dim=1):
        part = {name: tensor[replicate, chosen] for name, tensor in samples._asdict().items()}
        empty = part["owner"] < 0
        room = int((~empty).sum(-1).max())
        first = torch.argsort(empty.to(torch.int8), dim=-1, stable=True)[..., :room]
        for name in ("owner", "strength"):
            part[name] = part[name].gather(-1, first)
        place = first.unsqueeze(-1).expand(-1, -1, -1, part["x"].shape[-1])
        part["x"] = part["x"].gather(2, place).masked_fill_((part["owner"] < 0).unsqueeze(-1), 0)
        packs.append(Samples(**part))
    return packs


def _uniform(bounds: Sequence[float], shape: tuple[int, ...], stream: torch.Generator) -> Tensor:
    low, high = bounds
    return low + (high - low) * torch.rand(shape, generator=stream, dtype=torch.float64)


def _sample_one(
    spec: MultiView,
    features: Tensor,
    count: int,
    stream: torch.Generator,
    single_view: bool | None,
    noiseless: bool,
    dtype: torch.dtype,
) -> Samples:
    """One replicate. Every draw happens whatever the options: they do not shift the stream."""
    k, views, n = spec.classes, spec.features_per_class, count
    y = torch.randint(k, (n,), generator=stream)
    is_single = torch.rand(n, generator=stream) < spec.single_view_share
    if single_view is not None:
        is_single = torch.full((n,), single_view)
    strong = torch.randint(views, (n,), generator=stream)

    active = torch.rand((n, k, views), generator=stream) < spec.sparsity / k
    active[torch.arange(n), y] = True
    # of every feature: off-class, main, or main times rho where weak
    off = _uniform(spec.off_strength, (n, k, views), stream)
    main = _uniform(spec.main_strength, (n, k, views), stream) * spec.main_scale
    own = (torch.arange(k) == y[:, None])[:, :, None]
    hidden = is_single[:, None] & (torch.arange(views) != strong[:, None])
    weak = torch.tensor(spec.weak_strength, dtype=torch.float64)
    factor = torch.where(own & hidden[:, None, :], weak, 1.0)
    total = torch.where(active, torch.where(own, main, off) * factor, 0.0)
    owner, strength = _place(spec, active, total, stream)

    present = owner >= 0
    flat = features.reshape(spec.features, spec.dimension)
    held = flat[owner.clamp_min(0)] * strength.unsqueeze(-1)
    alpha = _uniform((0, spec.feature_noise), (n, spec.patches, spec.features), stream)
    on_feature = torch.tensor(spec.noise / spec.dimension**0.5, dtype=torch.float64)
    std = torch.where(present, on_feature, spec.background_std)
    gaussian = torch.randn((n, spec.patches, spec.dimension), generator=stream, dtype=torch.float64)
    x = held + alpha @ flat
    if not noiseless:
        x += std.unsqueeze(-1) * gaussian
    return Samples(
        x=x.to(dtype),
        y=y,
        strong=torch.where(is_single, strong, -1),
        active=active,
        total=total.to(dtype),
        strength=strength.to(dtype),
        owner=owner,
    )


def _place(
    spec: MultiView, active: Tensor, total: Tensor, stream: torch.Generator
) -> tuple[Tensor, Tensor]:
    """Give present features ``C_p`` patches at uniform random places: owner, strength (N, P)."""
    n, patches, room = active.shape[0], spec.patches, spec.patches_per_feature
    present = active.reshape(n, -1)
    count = present.sum(1)
    if int(count.max()) * room > patches:
        raise ValueError(
            f"patches: {patches}; a sample holds {int(count.max())} features of {room} patches each"
        )
    # present features first, in order of their index; slot j belongs to the (j // C_p)-th of them
    order = torch.argsort((~present).to(torch.int8), dim=1, stable=True)
    slot = torch.arange(patches) // room
    used = slot < count[:, None]
    owner_of_slot = order[:, slot.clamp_max(order.shape[1] - 1)]
    share = _shares(spec, n, stream)[
        :, slot.clamp_max(order.shape[1] - 1), torch.arange(patches) % room
    ]
    z = torch.gather(total.reshape(n, -1), 1, owner_of_slot) * share
    place = torch.argsort(torch.rand((n, patches), generator=stream, dtype=torch.float64), dim=1)
    owner = torch.empty((n, patches), dtype=torch.int64)
    owner.scatter_(1, place, torch.where(used, owner_of_slot, -1))
    strength = torch.empty((n, patches), dtype=torch.float64)
    strength.scatter_(1, place, torch.where(used, z, 0.0))
    return owner, strength


def _shares(spec: MultiView, n: int, stream: torch.Generator) -> Tensor:
    """How a total is divided among the patches of a feature: (N, features, C_p), summing to 1."""
    shape = (n, spec.features, spec.patches_per_feature)
    exponential = -torch.log1p(-torch.rand(shape, generator=stream, dtype=torch.float64))
    if spec.split == "equal":
        return torch.full(shape, 1 / spec.patches_per_feature, dtype=torch.float64)
    return exponential / exponential.sum(-1, keepdim=True)


class Problem:
    """Data, features and initial kernels that a section of the config describes, on one device.

    Samples are drawn on the CPU when they are first needed: a pure function of config and seed.

    ``name``: of the random streams. ``config``: the section, e.g. ``config["mrp"]["headline"]``.
    ``shares``: shares of single-view data to train at in one batch, in place of the section's: R is
    then shares x replicates, paired. ``features`` (R, k, L, d): given and not drawn.
    """

    def __init__(
        self,
        name: str,
        config: Mapping[str, Any],
        seed: int,
        device: torch.device | str = "cpu",
        *,
        shares: Sequence[float] = (),
        features: Tensor | None = None,
    ):
        self.config, self.device = config, torch.device(device)
        self.replicates: int = config["replicates"]
        self.streams = Streams(seed, "mrp", name, range(self.replicates))
        network = config["network"]
        self.activation = Activation(network["q"], network["varrho"])
        self.spec = MultiView.from_config(config["data"], network["q"])
        self.specs = [replace(self.spec, single_view_share=share) for share in shares]
        self.specs = self.specs or [self.spec]
        self._features = features

    @cached_property
    def features(self) -> Tensor:
        """Feature directions (R, k, L, d), float32."""
        if self._features is not None:
            return self._features
        exact = orthonormal_features(self.spec, self.streams("features"))
        single = exact.to(device=self.device, dtype=torch.float32)
        return single.repeat(len(self.specs), 1, 1, 1)

    @cached_property
    def train(self) -> Samples:
        """The training set: unlabelled in pre-training, the same one labelled downstream."""
        return self.draw("train-data", self.config["data"]["train_samples"])

    @cached_property
    def validation(self) -> Samples:
        """Fresh samples as the training set's, on which the penalty of a head is chosen."""
        return self.draw("validation-data", self.config["data"]["train_samples"])

    @cached_property
    def tests(self) -> dict[str, Samples]:
        """Fresh samples, ``multi_view`` and ``single_view``."""
        count = self.config["data"]["test_samples"]
        return {
            "multi_view": self.draw("test-multi-view", count, single_view=False),
            "single_view": self.draw("test-single-view", count, single_view=True),
        }

    def draw(
        self, purpose: str, count: int, *, single_view: bool | None = None, noiseless: bool = False
    ) -> Samples:
        """``count`` samples; see :func:`sample`."""
        # features are drawn in float64 and rounded once: the same rounding wherever they are used
        features = self.features[: self.replicates].cpu()
        options = {"single_view": single_view, "noiseless": noiseless}
        return Samples.joined(
            sample(spec, features, count, self.streams(purpose), **options)  # type: ignore[arg-type]
            for spec in self.specs
        ).to(self.device)

    def kernels(self, **network: Any) -> Tensor:
        """Kernels (R, K, d) at the start: the same ones for supervised and for pre-training.

        ``network`` overrides ``kernels_per_class`` or ``sigma_0`` of the section; what another
        ``sigma_0`` gives is the same draw, scaled.
        """
        network = {**self.config["network"], **network}
        count = self.spec.classes * network["kernels_per_class"]
        streams = self.streams("initial-kernels")
        drawn = initial_kernels(count, self.spec.dimension, network["sigma_0"], streams)
        return drawn.to(self.device).repeat(len(self.specs), 1, 1)

    def masks(self, theta: float, step: int) -> Tensor:
        """(R, N, P) bool: training patches that the mask of a step keeps, a share ``theta``."""
        drawn = draws(torch.rand, self.streams(f"masks-{step}"), *self.train.x.shape[1:3])
        return (drawn < theta).to(self.device).repeat(len(self.specs), 1, 1)

    def blocks(self, w: Tensor) -> Tensor:
        """(R, k, K): the fixed head of the supervised network with kernels ``w``."""
        return fixed_block_head(self.spec.classes, w.shape[1], w.shape[0]).to(w.device)
