"""Closed forms: rates of stage I, the rate of one atom, exact baselines, the floor of the loss.

``p`` and ``variance`` (``sigma^2``) are those of :class:`featlearn.contrastive.data.SparseCoding`.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from featlearn.contrastive.data import Masking, SparseCoding


def normal_cdf(x: Tensor) -> Tensor:
    """Standard normal distribution function."""
    return torch.special.ndtr(x)


def normal_pdf(x: Tensor) -> Tensor:
    """Standard normal density."""
    return torch.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)


def covariance(spec: SparseCoding, atoms: Tensor) -> Tensor:
    """``C = E[x x^T] = p M M^T + sigma^2 I``, (R, D, D)."""
    identity = torch.eye(spec.dimension, dtype=atoms.dtype, device=atoms.device)
    return spec.p * atoms @ atoms.mT + spec.variance * identity


def apply_pair_operator(spec: SparseCoding, atoms: Tensor, masking: Masking, w: Tensor) -> Tensor:
    """``A w_i`` for all neurons, (R, m, D), without forming ``A``."""
    projected = torch.bmm(torch.bmm(w, atoms), atoms.mT)
    if masking != "complementary":
        return spec.p * projected + spec.variance * w
    return spec.p * (projected - w * (atoms**2).sum(-1).unsqueeze(1))


def stage_one_rates(
    spec: SparseCoding, masking: Masking, negatives: int, decay: float
) -> tuple[float, float]:
    """Growth rates along ``span(M)`` and along its complement at b = 0 (flat dictionary).

    ``w(t+1) = w(t) + eta [(1 - 1/|B|) A w(t) - decay w(t)]`` with ``|B| = negatives + 1`` (the
    exact form of Induction Hypothesis C.4).
    """
    share = 1 - 1 / (negatives + 1)
    flat = spec.atoms / spec.dimension
    if masking == "complementary":
        return share * spec.p * (1 - flat) - decay, -share * spec.p * flat - decay
    return share * (spec.p + spec.variance) - decay, share * spec.variance - decay


def next_order_descent(spec: SparseCoding, atoms: Tensor, w: Tensor, n: int, tau: float) -> Tensor:
    """``-grad_W`` with RandomMask at b = 0 up to cubic terms in W, (R, m, D).

    ``(1 - 1/B) [W A - N / (B tau) W C W^T W C+]`` with ``C+ = C + diag(C)``, ``B = N + 1``.
    """
    c = covariance(spec, atoms)
    diagonal = torch.diag_embed(c.diagonal(dim1=1, dim2=2))
    batch = n + 1
    linear = w @ (c - diagonal)
    cubic = w @ c @ w.mT @ w @ (c + diagonal)
    return (1 - 1 / batch) * (linear - n / (batch * tau) * cubic)


def mean_response(alpha: Tensor, b: Tensor, s: Tensor) -> Tensor:
    """``S = E h(alpha + n)`` for Gaussian ``n`` of standard deviation ``s``."""
    up, down = (alpha - b) / s, (-alpha - b) / s
    above = (alpha - b) * normal_cdf(up) + s * normal_pdf(up)
    below = (-alpha - b) * normal_cdf(down) + s * normal_pdf(down)
    return above - below


def firing_probability(alpha: Tensor, b: Tensor, s: Tensor) -> Tensor:
    """``Q = Pr(|alpha + n| >= b)``."""
    return normal_cdf((alpha - b) / s) + normal_cdf((-alpha - b) / s)


def dense_pull(alpha: Tensor, b: Tensor, s: Tensor, along: Tensor, variance: float) -> Tensor:
    """``E[h(x++) 1{|<w,x+>| >= b} <x+, v> | z_j = 1]`` for a unit dense ``v``, ``along = <w, v>``.

    The chain of correlations of Lemma D.4 in closed form; ``s`` is the masked noise's standard
    deviation ``sqrt(2) sigma ||w||``.
    """
    edge = normal_pdf((alpha - b) / s) - normal_pdf((alpha + b) / s)
    return mean_response(alpha, b, s) * 2 * variance * along / s * edge


def noise_pull_without_mask(b: Tensor, norm: Tensor, along: Tensor, variance: float) -> Tensor:
    """``E[h(<w, xi>) <xi, v>] = sigma^2 <w, v> 2 Phi(-b / (sigma ||w||))`` (Stein's lemma)."""
    return variance * along * 2 * normal_cdf(-b / (math.sqrt(variance) * norm))


def linear_error(spec: SparseCoding) -> float:
    """NMSE of the best linear predictor of ``<w*, z>`` from x: ``sigma^2 / (sigma^2 + p)``."""
    return spec.variance / (spec.variance + spec.p)


def posterior_mean(y: Tensor, p: float, variance: float) -> Tensor:
    """``E[z_j | z_j + N(0, sigma^2) = y]``: with M^T x for y, the Bayes estimate of z."""
    # both sides divided by exp(|y| / sigma^2), so that nothing overflows
    size = y.abs() / variance
    active = 0.5 * p * math.exp(-1 / (2 * variance))
    silent = (1 - p) * torch.exp(-size)
    both = torch.exp(-2 * size)
    return y.sign() * active * (1 - both) / (silent + active * (1 + both))


def bayes_error(spec: SparseCoding, points: int = 20001) -> float:
    """NMSE of the posterior mean: no estimator of ``<w*, z>`` from x can be better."""
    sigma, p = spec.sigma, spec.p
    y = torch.linspace(-1 - 10 * sigma, 1 + 10 * sigma, points, dtype=torch.float64)
    estimate = posterior_mean(y, p, spec.variance)
    densities = {z: normal_pdf((y - z) / sigma) / sigma for z in (-1.0, 0.0, 1.0)}
    chances = {-1.0: p / 2, 0.0: 1 - p, 1.0: p / 2}
    squared = sum(chances[z] * densities[z] * (estimate - z) ** 2 for z in chances)
    return float(torch.trapezoid(torch.as_tensor(squared), y)) / p


def loss_floor(spec: SparseCoding, negatives: int, draws: int, stream: torch.Generator) -> float:
    """``E log(1 + #{s: z_s agrees with z on its support})``, by sampling: the least loss / tau.

    A code that depends on z alone cannot tell a negative with the same entries on the support of
    z from the positive.
    """

    def codes(count: int) -> Tensor:
        u = torch.rand((count, spec.atoms), generator=stream)
        return (u < spec.p / 2).float() - (u >= 1 - spec.p / 2).float()

    anchor, negative = codes(draws), codes(negatives)
    agree = (anchor @ negative.T) >= (anchor**2).sum(1, keepdim=True)
    return float(torch.log1p(agree.sum(1).double()).mean())


def second_moment_ratio(spec: SparseCoding) -> float:
    """``E<x, M_j>^2 / E<x, M^perp_j>^2 = 1 + p / sigma^2`` (appendix F)."""
    return 1 + spec.p / spec.variance


def large_coordinate_chance(log_atoms: float) -> float:
    """``Pr(|g| >= log^(1/4) d) / 2^-sqrt(log d)`` for a standard Gaussian ``g``, ``log d`` given.

    A neuron has ``d`` times this chance of atoms with ``|alpha_ij| >= log^(1/4) d / sqrt d
    ||w_i||``; Theorem C.1(4) prints ``O(d 2^-sqrt(log d))``.
    """
    root = math.sqrt(log_atoms)
    tail = torch.special.log_ndtr(torch.tensor(-math.sqrt(root), dtype=torch.float64))
    return math.exp(math.log(2) + float(tail) + root * math.log(2))


def bias_at_t1(atoms: int) -> float:
    """``sqrt(2 log d / d)``: the threshold at T1 over ``||w_i||``."""
    return math.sqrt(2 * math.log(atoms) / atoms)
