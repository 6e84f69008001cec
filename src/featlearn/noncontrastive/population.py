"""The population objective (A.1) in closed form, its gradients for any number of neurons.

With ``B_jl = <w_j, v_l>`` and the Gram matrix ``G`` of the neurons' parts orthogonal to the
features, the objective of infinitely many samples depends on ``(B, G, E)`` only: for noise that is
isotropic up to the sixth moment the noise moments are

    M_jr = E <w_j, xi>**3 <w_r, xi>**3 = power * (9 G_jj G_rr G_jr + 6 G_jr**3)

The appendix writes all of it for two neurons; :mod:`featlearn.noncontrastive.closed_forms` has its
terms by name.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor

from featlearn.noncontrastive.data import PatchData, view_moments

#: ``batch`` is the paper's. Without normalisation the loss is an inner product (the gradient's
#: direction of section 5.3) or the plain squared distance.
Objective = Literal["batch", "inner-product", "squared"]


@dataclass(frozen=True)
class Law:
    """What the population objective knows of the data; leading axes are batch axes."""

    both: Tensor  #: (..., 2): ``C_0 alpha_l**6``, by feature
    square: Tensor  #: (..., 2): ``C_1 alpha_l**6``
    noise: Tensor  #: (...): ``C_2 E<u, xi>**6 / 15``, that is ``C_2 s**6`` for Gaussian noise

    @classmethod
    def of(cls, spec: PatchData, device: Any = "cpu") -> Law:
        """The law of one data distribution, float64.

        Imbalance by frequency and features that occur together change only how often a feature is
        shown, and so enter like a factor on ``alpha_l**6``.
        """
        moments = view_moments(spec)
        shown = torch.tensor(spec.shown, dtype=torch.float64, device=device)
        sixth = torch.tensor(spec.strengths, dtype=torch.float64, device=device) ** 6
        noise = torch.tensor(moments.noise * spec.noise_power, dtype=torch.float64, device=device)
        return cls(moments.both * shown * sixth, moments.square * shown * sixth, noise)

    @classmethod
    def stack(cls, laws: Sequence[Law]) -> Law:
        """One law with a batch axis from several."""
        parts = ((law.both, law.square, law.noise) for law in laws)
        return cls(*(torch.stack(tensors) for tensors in zip(*parts, strict=True)))

    def __getitem__(self, index: Any) -> Law:
        return Law(self.both[index], self.square[index], self.noise[index])

    def expand(self, count: int) -> Law:
        """A single law for so many states."""
        both, square = self.both.expand(count, 2), self.square.expand(count, 2)
        return Law(both, square, self.noise.expand(count))


@dataclass(frozen=True)
class State:
    """Where training stands; leading axes are batch axes."""

    b: Tensor  #: (..., m, 2): ``<w_j, v_l>``
    g: Tensor  #: (..., m, m): Gram matrix of ``Pi w_j``; the paper's ``R_j`` and ``R_12``
    e: Tensor  #: (..., m, m): off-diagonals of the head, zero on the diagonal

    @property
    def neurons(self) -> int:
        return self.b.shape[-2]

    @property
    def residual(self) -> Tensor:
        """``R_j = |Pi w_j|**2``, (..., m)."""
        return self.g.diagonal(dim1=-2, dim2=-1)

    @property
    def square_norm(self) -> Tensor:
        """``|w_j|**2``, (..., m)."""
        return self.b.square().sum(-1) + self.residual

    def __getitem__(self, index: Any) -> State:
        return State(self.b[index], self.g[index], self.e[index])

    @classmethod
    def cat(cls, states: Iterable[State], device: Any = None) -> State:
        """States below each other, on a device."""
        parts = ((state.b, state.g, state.e) for state in states)
        return cls(*(torch.cat(tensors).to(device) for tensors in zip(*parts, strict=True)))


def state_of(w: Tensor, e: Tensor) -> State:
    """The state of neurons ``w`` (..., m, d) and a head ``e`` (..., m, m)."""
    rest = w[..., 2:]
    off = e - torch.diag_embed(e.diagonal(dim1=-2, dim2=-1))
    return State(w[..., :2], rest @ rest.transpose(-1, -2), off)


def noise_moments(g: Tensor) -> Tensor:
    """``E <w_j, xi>**3 <w_r, xi>**3`` for unit noise power: (..., m, m)."""
    own = g.diagonal(dim1=-2, dim2=-1)
    return 9 * own.unsqueeze(-1) * own.unsqueeze(-2) * g + 6 * g**3


def _eye(state: State) -> Tensor:
    return torch.eye(state.neurons, dtype=state.b.dtype, device=state.b.device)


def _second_moments(state: State, law: Law) -> tuple[Tensor, Tensor]:
    """Cubes ``B**3`` (..., m, 2) and ``E f_j(X1) f_r(X1)`` (..., m, m)."""
    cubes = state.b**3
    signal = (cubes * law.square.unsqueeze(-2)) @ cubes.transpose(-1, -2)
    return cubes, signal + law.noise[..., None, None] * noise_moments(state.g)


def loss(state: State, law: Law, target: State | None = None) -> Tensor:
    """The objective (A.1) for any m: ``m - sum_j Q_j num_j / sqrt(U_j)``, (...).

    ``target``: state of the target branch, of which no gradient is taken; by default ``state``
    itself, detached. Give ``state`` for the objective without StopGrad.
    """
    if target is None:
        target = State(state.b.detach(), state.g.detach(), state.e.detach())
    cubes, second = _second_moments(state, law)
    held, held_second = _second_moments(target, law)
    head = _eye(state) + state.e
    u = (head @ second * head).sum(-1)
    agreement = (held * law.both.unsqueeze(-2) * (head @ cubes)).sum(-1)
    q = held_second.diagonal(dim1=-2, dim2=-1).rsqrt()
    return state.neurons - (q * agreement * u.rsqrt()).sum(-1)


@dataclass(frozen=True)
class Descent:
    """Negative gradients."""

    b: Tensor  #: (..., m, 2): ``-<grad_{w_j} L, v_l>``
    mixing: Tensor  #: (..., m, m) symmetric ``C``: ``-Pi grad_{w_j} L = sum_r C_jr Pi w_r``
    e: Tensor  #: (..., m, m): ``-dL/dE``, zero on the diagonal


def descent(
    state: State, law: Law, objective: Objective = "batch", *, stop_gradient: bool = True
) -> Descent:
    """Negative gradient of the population objective, exact for any number of neurons.

    Section 5.3 of the paper turns the two switches off: without StopGrad the gradient also runs
    through the target, its statistics included; without batch normalisation the objective is
    ``-sum_j num_j`` (``inner-product``) or half the squared distance (``squared``).
    """
    cubes, second = _second_moments(state, law)
    head = _eye(state) + state.e
    mixed = head @ second
    u = (mixed * head).sum(-1)
    variance = second.diagonal(dim1=-2, dim2=-1)
    online = head @ cubes
    agreement = (cubes * law.both.unsqueeze(-2) * online).sum(-1)
    if objective == "batch":
        scale = (variance * u).rsqrt()
        pull = scale * agreement / u / 2  # -d/dU_j of what is maximised
        through = scale * agreement / variance / 2  # the same for the target's variance
    else:
        scale = torch.ones_like(u)
        pull = torch.full_like(u, 0.5 if objective == "squared" else 0.0)
        through = pull
    # what is maximised: sum_j scale_j num_j, against second moments weighted by ``weight``
    weight = (head * pull.unsqueeze(-1)).transpose(-1, -2) @ head
    if not stop_gradient:
        weight = weight + torch.diag_embed(through)
    towards = (head * scale.unsqueeze(-1)).transpose(-1, -2) @ cubes
    if not stop_gradient:
        towards = towards + scale.unsqueeze(-1) * online
    by_cube = law.both.unsqueeze(-2) * towards - 2 * law.square.unsqueeze(-2) * (weight @ cubes)
    by_head = scale.unsqueeze(-1) * ((cubes * law.both.unsqueeze(-2)) @ cubes.transpose(-1, -2))
    by_head = by_head - 2 * pull.unsqueeze(-1) * mixed
    by_head = by_head * (1 - _eye(state))
    return Descent(3 * state.b**2 * by_cube, -2 * _by_gram(state.g, weight, law), by_head)


def _by_gram(g: Tensor, weight: Tensor, law: Law) -> Tensor:
    """Symmetric derivative of ``sum weight * noise * M(G)`` by the Gram matrix."""
    weight = law.noise[..., None, None] * weight
    own = g.diagonal(dim1=-2, dim2=-1)
    outer = own.unsqueeze(-1) * own.unsqueeze(-2)
    cross = weight * (9 * outer + 18 * g**2)
    return cross + torch.diag_embed(18 * (weight * g * own.unsqueeze(-2)).sum(-1))


def optimum(law: Law, neurons: int) -> Tensor:
    """``OPT = m (1 - C_0 / C_1)``: reached by any noise-free neurons when the head is trivial."""
    return neurons * (1 - law.both[..., 0] / law.square[..., 0])


def feature_correlation(state: State, spec: PatchData) -> Tensor:
    """Correlation of neurons over whole samples (section 4), in closed form: (..., m, m).

    A feature on all its patches counts ``P_0**2``, and every noise patch counts.
    """
    shown = torch.tensor(spec.shown, dtype=state.b.dtype, device=state.b.device)
    strengths = torch.tensor(spec.strengths, dtype=state.b.dtype, device=state.b.device)
    cubes = state.b**3
    signal = (cubes * (shown * strengths**6 * spec.feature_patches**2)) @ cubes.transpose(-1, -2)
    covariance = signal + spec.noise_patches * spec.noise_power * noise_moments(state.g)
    scale = covariance.diagonal(dim1=-2, dim2=-1).rsqrt()
    return covariance * scale.unsqueeze(-1) * scale.unsqueeze(-2)
