"""What the theory says a kernel does while nothing disturbs it: growth and capture.

All for one kernel along one feature, without noise, exact in the expectation over masks. The
strengths enter through sums over the data at hand, so the formulas are those of a finite sample,
not of the distribution. Symbols: ``a`` the correlation with the feature, ``z_p`` the strength on
patch p, ``theta`` the probability that a patch is kept, ``q`` and ``varrho`` the activation's.
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

from featlearn.mrp.data import Samples
from featlearn.mrp.model import Activation

Framework = Literal["teacher_student", "mae"]
Number = float | Tensor


def power_sums(samples: Samples, features: int, exponent: float) -> Tensor:
    """``sum of z_p**exponent`` over the patches of each feature: (R, N, features), float64."""
    strength = samples.strength.double()
    powers = torch.where(samples.owner >= 0, strength**exponent, 0.0)
    sums = powers.new_zeros((*powers.shape[:2], features))
    return sums.scatter_add_(2, samples.owner.clamp_min(0), powers)


def growth_power(framework: Framework, q: int) -> int:
    """``p`` of the law ``da/dt ~ a**(p + 1)``: teacher-student ``2q - 2``, MAE ``q - 1``."""
    return 2 * q - 2 if framework == "teacher_student" else q - 1


def teacher_student_growth(
    samples: Samples, features: int, q: int, theta: Number, tau: Number
) -> Tensor:
    """Growth constant ``Gamma`` of each feature under a teacher of constant factor ``tau``.

    ``E[ sum_p z_p^q ( (tau^q - 1) sum_p' z_p'^q - (1/theta - 1) z_p^q ) ]`` over the samples that
    hold the feature; ``theta`` and ``tau`` are numbers or (R,). Returns a Tensor (R, features).
    Positive: the feature grows.
    """
    at = samples.strength.device
    gain = torch.as_tensor(tau, dtype=torch.float64, device=at) ** q - 1
    pull = 1 / torch.as_tensor(theta, dtype=torch.float64, device=at) - 1
    together = power_sums(samples, features, q).square().mean(1)
    apart = power_sums(samples, features, 2 * q).mean(1)
    return gain.view(-1, 1) * together - pull.view(-1, 1) * apart


def mae_growth(samples: Samples, features: int, q: int) -> Tensor:
    """The same for the MAE framework, ``E[ (1 + q) sum_p z_p^(q+1) ]``: no ``theta`` in it."""
    return (1 + q) * power_sums(samples, features, q + 1).mean(1)


def hitting_time(
    initial: Tensor,
    target: Number,
    growth: Tensor,
    power: int,
    activation: Activation,
    learning_rate: Number,
) -> Tensor:
    """Steps from correlation ``initial`` to ``target`` while both are in the polynomial regime.

    ``T = (initial^-p - target^-p) q varrho^p / (p eta Gamma)``, the solution of ``da/dt = eta Gamma
    a^(p+1) / (q varrho^p)``, and ``(p+1)/2 ln(target / initial)`` more, the first correction for
    steps of finite size. ``initial``, ``growth``: correlation at the start and ``Gamma``, of one
    shape. ``target``: with ``tau * target * max z <= varrho`` (MAE: ``tau = 1``). ``power``: ``p``.
    """
    initial = initial.double()
    span = initial**-power - target**-power
    scale = activation.q * activation.varrho**power
    whole = (power + 1) / 2 * (target / initial).log()
    return span * scale / (power * learning_rate * growth) + whole


def captured_slope(
    a: Tensor, z: Tensor, patches: Number, theta: Number, delta: Number, activation: Activation
) -> Tensor:
    """Teacher-student gradient once ``a z >= varrho``, equal strengths, the paper's ``tau_t``.

    ``C_p z [ C_p delta_t a z + (1/theta - 1) (1 - 1/q) varrho ]``. The second term comes from the
    offset of the linear branch of the activation; it does not fade with time.
    """
    offset = (1 / theta - 1) * (1 - 1 / activation.q) * activation.varrho
    return patches * z * (patches * delta * a * z + offset)
