"""The appendix's terms for two neurons, corrected and as printed, and what follows from them.

``j`` is a neuron, ``k`` the other one, ``l`` a feature. The printed text differs from the gradient
of its own objective (A.1) in four places, each an option here: the signal part of (A.2) lacks a
factor 3, its noise part (and that of the head) is twice too large, ``C_2`` is the number of noise
patches of a whole sample and not of a view, and ``Xi_j`` lacks the cross term of a square.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from featlearn.noncontrastive.population import Law, State, noise_moments


@dataclass(frozen=True)
class Terms:
    """Section A of the appendix: tensors (..., 2) by neuron, (..., 2, 2) by neuron and feature."""

    #: ``u``, ``q`` and ``phi``: ``U_j`` (variance of the online output), ``Q_j``, ``Phi_j = Q_j
    #: / U_j**1.5``.
    u: Tensor
    q: Tensor
    phi: Tensor
    #: ``noise``, ``mixed_noise`` and ``cross_noise``: ``E_j``, ``E_{j,k}`` (both without
    #: ``C_2``) and ``M_33`` (...).
    noise: Tensor
    mixed_noise: Tensor
    cross_noise: Tensor
    #: ``h`` and ``cross``: ``H_jl`` and ``K_jl``.
    h: Tensor
    cross: Tensor
    #: ``gain``, ``borrowed`` and ``loss``: ``Lambda_jl``, ``Gamma_jl``, ``Upsilon_jl``: push of
    #: neuron j along feature l by its own output, by the other output through the head, and what
    #: normalisation takes back.
    gain: Tensor
    borrowed: Tensor
    loss: Tensor
    sigma: Tensor  #: ``Sigma_jl``, how fast noise is unlearned
    delta: Tensor  #: ``Delta_jl``, what drives the head
    xi: Tensor  #: ``Xi_j``, what pulls the head back


def head_entries(e: Tensor) -> Tensor:
    """``(E_12, E_21)``, (..., 2), of a head (..., 2, 2)."""
    return torch.stack([e[..., 0, 1], e[..., 1, 0]], -1)


def terms(state: State, law: Law, view_noise: float, *, xi_as_printed: bool = False) -> Terms:
    """All terms at once.

    ``state``: two neurons. ``law``: its constants: ``C_0 alpha_l**6``, ``C_1 alpha_l**6``, ``C_2
    s**6``. ``view_noise``: ``C_2`` alone: the named noise moments do not contain it.
    ``xi_as_printed``: Fact D.2 as printed, without the cross term of the squared determinant.
    """
    cubes = state.b**3
    other = cubes.flip(-2)
    entry = head_entries(state.e)
    moments = noise_moments(state.g) * (law.noise / view_noise)[..., None, None]
    own = moments.diagonal(dim1=-2, dim2=-1)
    cross_noise = moments[..., 0, 1]
    mixed = own + 2 * entry * cross_noise.unsqueeze(-1) + entry**2 * own.flip(-1)
    signal = cubes + entry.unsqueeze(-1) * other  # F_jl
    c0, c1 = law.both.unsqueeze(-2), law.square.unsqueeze(-2)
    u = (c1 * signal**2).sum(-1) + view_noise * mixed
    q = ((c1 * cubes**2).sum(-1) + view_noise * own).rsqrt()
    phi = q / u**1.5
    h = c1 * signal**2 + view_noise * mixed.unsqueeze(-1)
    cross = c1 * signal * signal.flip(-1)
    wide, back = phi.unsqueeze(-1), entry.flip(-1).unsqueeze(-1)  # E_kj
    b2, weak = state.b**2, c0.expand_as(cubes).flip(-1)
    gain = c0 * wide * state.b**5 * h.flip(-1)
    borrowed = c0 * wide.flip(-2) * back * other * b2 * h.flip(-1).flip(-2)
    loss = weak * b2 * (
        wide * cubes.flip(-1) * cross
        + wide.flip(-2) * back * other.flip(-1) * cross.flip(-2)
    )  # fmt: skip
    sigma = c0 * view_noise * wide * cubes * signal
    delta = c0 * wide * cubes * other * view_noise * mixed.unsqueeze(-1)
    straight = cubes[..., 0, 0] * cubes[..., 1, 1]
    crossed = cubes[..., 0, 1] * cubes[..., 1, 0]
    square = straight**2 + crossed**2 if xi_as_printed else (straight - crossed) ** 2
    xi = (law.both[..., :1] * law.square[..., 1:]) * phi * square.unsqueeze(-1)
    pushes = {"gain": gain, "borrowed": borrowed, "loss": loss}
    noise = {"noise": own, "mixed_noise": mixed, "cross_noise": cross_noise, "sigma": sigma}
    return Terms(u=u, q=q, phi=phi, h=h, cross=cross, delta=delta, xi=xi, **pushes, **noise)


@dataclass(frozen=True)
class Printed:
    """Which factors of (A.2) are used. The corrected ones; as printed they are 1, 1, 1."""

    signal: float = 3.0  #: Of the signal part of the weights' gradient
    #: ``noise`` and ``head_noise``: of the noise parts of the gradients of weights and head.
    noise: float = 0.5
    head_noise: float = 0.5


CORRECTED, AS_PRINTED = Printed(), Printed(1.0, 1.0, 1.0)


def feature_descent(named: Terms, factors: Printed = CORRECTED) -> Tensor:
    """``-<grad_{w_j} L, v_l>`` (..., 2, 2)."""
    return factors.signal * (named.gain + named.borrowed - named.loss)


def head_descent(named: Terms, state: State, factors: Printed = CORRECTED) -> Tensor:
    """``(-dL/dE_12, -dL/dE_21)`` (..., 2): ``-Xi E + sum Delta - factor sum Sigma dE_{j,k}/dE``."""
    entry = head_entries(state.e)
    slope = 2 * named.cross_noise.unsqueeze(-1) + 2 * entry * named.noise.flip(-1)
    taken = factors.head_noise * named.sigma.sum(-1) * slope
    return -named.xi * entry + named.delta.sum(-1) - taken


def noise_mixing(named: Terms, state: State, power: Tensor, factors: Printed = CORRECTED) -> Tensor:
    """``C`` (..., 2, 2): ``-Pi grad_{w_j} L = sum_r C_jr Pi w_r`` (A.1); ``power``: ``s**6``."""
    entry = head_entries(state.e)
    r, angle = state.residual, state.g[..., 0, 1].unsqueeze(-1)
    own_pull, other_pull = named.sigma.sum(-1), named.sigma.sum(-1).flip(-1)
    back = entry.flip(-1)
    shared = 36 * r.flip(-1) * angle
    diagonal = own_pull * (90 * r**2 + entry * shared)
    diagonal = diagonal + other_pull * (90 * back**2 * r**2 + back * shared)
    both = own_pull * entry + other_pull * back
    off = both * (18 * r * r.flip(-1) + 36 * angle**2)
    scale = -factors.noise * power.unsqueeze(-1)
    mixing = torch.diag_embed(scale * diagonal)
    mixing[..., 0, 1], mixing[..., 1, 0] = (scale * off)[..., 0], (scale * off)[..., 1]
    return mixing


def printed_view_noise(law: Law) -> Law:
    """The law with ``C_2 = P - |S(X)|`` as printed, twice the number of noise patches of a view."""
    return replace(law, noise=2 * law.noise)


def first_phase_time(start: State, law: Law) -> Tensor:
    """Predicted ``T_1`` in units of ``eta * steps`` (...): when neuron 1 has the strong feature.

    From ``dB/dt = 3 C_0 alpha_1**6 B**5 / (C_2 E_1)``: the time at which ``B**-4`` is used up.
    """
    power = 15 * law.noise * start.residual[..., 0] ** 3
    return power / (12 * law.both[..., 0] * start.b[..., 0, 0] ** 4)


def largest_head(start: State, kappa: Tensor) -> Tensor:
    """Bound on ``|E_21|`` for small ``E_12``, conserved: ``sqrt(kappa / 3) |w_2(0)|``."""
    return (kappa / 3 * start.square_norm[..., 1]).sqrt()
