"""The learner and its contrastive loss with StopGrad (section 2, appendix A.1).

One layer of symmetrised ReLUs, no output layer, no normalisation. For an anchor ``x+``, its
positive ``x++`` and negatives ``x_s``, with StopGrad on all but the anchor,

    L = -tau log softmax(Sim / tau)[x++],   Sim(x+, x') = <f(x+), f(x')>.

With ``l_s`` the softmax weights of the negatives, the descent direction of neuron i is

    -grad_{w_i} L = E[ sum_s l_s (h_i(x++) - h_i(x_s)) 1{|<w_i, x+>| >= b_i} x+ ].

In this form nothing cancels: ``1 - l_p`` is the sum of the ``l_s`` and is never computed from
``l_p``. The prefactor tau of the loss makes the gradient free of ``1 / tau``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from featlearn.core.seeds import draws


def symmetrised_relu(u: Tensor, b: Tensor) -> Tensor:
    """``h = ReLU(u - b) - ReLU(-u - b)`` for ``u`` (..., n, m) and thresholds ``b`` (..., m).

    With ``b >= 0`` the soft threshold: zero for ``|u| <= b``. With ``b < 0``, which only trained
    biases reach, it has slope 2 for ``|u| < |b|``.
    """
    b = b.unsqueeze(-2)
    return torch.relu(u - b) - torch.relu(-u - b)


def soft_threshold(u: Tensor, b: Tensor) -> Tensor:
    """``symmetrised_relu`` for ``b >= 0`` in half the passes over memory; ``u`` is overwritten."""
    b = b.unsqueeze(-2)
    return u.sub_(torch.clamp(u, -b, b))


def slope(u: Tensor, b: Tensor) -> Tensor:
    """``dh/du = 1{u > b} + 1{u < -b}``."""
    b = b.unsqueeze(-2)
    return (u > b).to(u.dtype) + (u < -b).to(u.dtype)


def bias_slope(u: Tensor, b: Tensor) -> Tensor:
    """``dh/db = -1{u > b} + 1{u < -b}``."""
    b = b.unsqueeze(-2)
    return (u < -b).to(u.dtype) - (u > b).to(u.dtype)


def encode(x: Tensor, w: Tensor, b: Tensor) -> Tensor:
    """``f(x)`` (R, n, m) of samples (R, n, D) under weights (R, m, D), thresholds (R, m)."""
    return symmetrised_relu(torch.bmm(x, w.mT), b)


def initial_weights(
    neurons: int, dimension: int, norm: float, streams: Sequence[torch.Generator]
) -> Tensor:
    """Weights (R, m, D), float32: Gaussian, with ``E ||w_i||^2 = norm**2`` (``sigma_0^2 d_1``)."""
    std = norm / dimension**0.5
    return std * draws(torch.randn, streams, neurons, dimension)


class Batch(NamedTuple):
    """Anchors, positives and negatives.

    ``anchor`` and ``positive`` are (R, K, D). ``negative`` is (R, N, D) when all anchors share
    the negatives, or (R, K, N, D) when each has its own, as the paper writes it.
    """

    anchor: Tensor
    positive: Tensor
    negative: Tensor


class Descent(NamedTuple):
    """Negative gradients: ``w`` (R, m, D), ``b`` (R, m)."""

    w: Tensor
    b: Tensor


class Codes(NamedTuple):
    """Responses to a batch: ``u`` (R, K, m) before the threshold, features of the three kinds."""

    u: Tensor
    anchor: Tensor
    positive: Tensor
    negative: Tensor


def codes(batch: Batch, w: Tensor, b: Tensor) -> Codes:
    """Encode a batch with weights (R, m, D) and thresholds (R, m)."""
    u = torch.bmm(batch.anchor, w.mT)
    negative = batch.negative
    if negative.dim() == 3:
        encoded = encode(negative, w, b)
    else:
        encoded = encode(negative.flatten(1, 2), w, b).view(*negative.shape[:3], -1)
    return Codes(u, symmetrised_relu(u, b), encode(batch.positive, w, b), encoded)


def similarities(anchor: Tensor, positive: Tensor, negative: Tensor) -> tuple[Tensor, Tensor]:
    """``Sim`` with the positive (R, K, 1) and with the negatives (R, K, N)."""
    with_positive = (anchor * positive).sum(-1, keepdim=True)
    if negative.dim() == 3:
        return with_positive, torch.bmm(anchor, negative.mT)
    return with_positive, (anchor.unsqueeze(2) * negative).sum(-1)


def contrastive_loss(seen: Codes, tau: float) -> Tensor:
    """``L`` (R,) with StopGrad on positives and negatives; without the regulariser."""
    positive, negative = similarities(seen.anchor, seen.positive.detach(), seen.negative.detach())
    logits = torch.cat([positive, negative], dim=-1) / tau
    return -tau * torch.log_softmax(logits, dim=-1)[..., 0].mean(-1)


def negative_weights(seen: Codes, tau: float) -> Tensor:
    """``l_s`` (R, K, N): softmax weights of the negatives, whose sum is ``1 - l_p``."""
    positive, negative = similarities(seen.anchor, seen.positive, seen.negative)
    largest = torch.maximum(positive, negative.amax(-1, keepdim=True))
    own = torch.exp((positive - largest) / tau)
    others = torch.exp((negative - largest) / tau)
    return others / (others.sum(-1, keepdim=True) + own)


def _pull(seen: Codes, tau: float) -> tuple[Tensor, Tensor]:
    """``(1 - l_p) h(x++)`` and ``sum_s l_s h(x_s)``, both (R, K, m)."""
    weights = negative_weights(seen, tau)
    if seen.negative.dim() == 3:
        negative = torch.bmm(weights, seen.negative)
    else:
        negative = (weights.unsqueeze(-1) * seen.negative).sum(2)
    return weights.sum(-1, keepdim=True) * seen.positive, negative


def descent(batch: Batch, w: Tensor, b: Tensor, tau: float) -> Descent:
    """Negative gradient of the batch's loss at weights (R, m, D) and thresholds (R, m)."""
    seen = codes(batch, w, b)
    positive, negative = _pull(seen, tau)
    base = positive - negative
    return Descent(
        torch.bmm((base * slope(seen.u, b)).mT, batch.anchor) / base.shape[1],
        (base * bias_slope(seen.u, b)).mean(1),
    )


def weight_descent(batch: Batch, w: Tensor, b: Tensor, tau: float) -> Tensor:
    """``descent(...).w`` alone, (R, m, D), for thresholds ``b >= 0``: the step of training.

    The gate ``|u| >= b`` is read off the anchor's features, which are zero elsewhere; negatives
    are shared. Where nothing is masked the positive is the anchor and encoded once.
    """
    anchor, negative = (soft_threshold(torch.bmm(x, w.mT), b) for x in batch[::2])
    positive = anchor
    if batch.positive is not batch.anchor:
        positive = soft_threshold(torch.bmm(batch.positive, w.mT), b)
    seen = Codes(anchor, anchor, positive, negative)
    positive, negative = _pull(seen, tau)
    base = positive.sub_(negative)
    base.mul_(seen.anchor != 0)
    return torch.bmm(base.mT, batch.anchor).div_(base.shape[1])


def descent_as_printed(batch: Batch, w: Tensor, b: Tensor, tau: float) -> Tensor:
    """Minus the vector that A.1 and Definition E.4 print as the gradient, (R, m, D).

    It adds the positive and the negative term where the gradient has their difference, so it is
    neither the gradient nor its negative.
    """
    seen = codes(batch, w, b)
    positive, negative = _pull(seen, tau)
    base = -(positive + negative) * slope(seen.u, b)
    return torch.bmm(base.mT, batch.anchor) / base.shape[1]


class Terms(NamedTuple):
    """Definition E.4 along one atom each: every entry (R, m, d)."""

    psi: Tensor
    phi: Tensor
    e1: Tensor
    e2: Tensor

    def total(self) -> Tensor:
        return self.psi + self.phi + self.e1 + self.e2


def gradient_terms(
    batch: Batch,
    z: tuple[Tensor, Tensor],
    anchor_noise: Tensor,
    w: Tensor,
    b: Tensor,
    atoms: Tensor,
    tau: float,
) -> Terms:
    """Definition E.4, corrected: ``-<grad_{w_i} L, M_j> = Psi + Phi + E1 + E2``.

    Psi is what atom j itself contributes to the responses, Phi what the rest of the sample does;
    E1 and E2 come from other atoms and from noise in the anchor.

    ``batch``: with shared negatives. ``z``: sparse codes of the anchors (R, K, d) and of the
    negatives (R, N, d). ``anchor_noise`` (R, K, D): the noise within the anchor, e.g. ``2 D xi``.
    ``atoms`` (R, D, d): ``M``.
    """
    z_anchor, z_negative = z
    seen = codes(batch, w, b)
    weights = negative_weights(seen, tau)
    kept = weights.sum(-1, keepdim=True)
    gate = slope(seen.u, b)
    alpha = torch.bmm(w, atoms)
    u_positive = torch.bmm(batch.positive, w.mT)
    u_negative = torch.bmm(batch.negative, w.mT)
    psi: list[Tensor] = []
    phi: list[Tensor] = []
    for j in range(atoms.shape[-1]):
        own = [_own_part(u, alpha[..., j], zj[..., j], b)
               for u, zj in ((u_positive, z_anchor), (u_negative, z_negative))]  # fmt: skip
        rest = [seen.positive - own[0], seen.negative - own[1]]
        for parts, terms in ((own, psi), (rest, phi)):
            pulled = (kept * parts[0] - torch.bmm(weights, parts[1])) * gate
            terms.append((pulled * z_anchor[..., j, None]).mean(1))
    base = (kept * seen.positive - torch.bmm(weights, seen.negative)) * gate
    # <M_j, x+> = z_j + <M_j, (2D - I) M z> + <M_j, 2 D xi>
    noise = torch.bmm(anchor_noise, atoms)
    leak = torch.bmm(batch.anchor, atoms) - noise - z_anchor
    count = base.shape[1]
    return Terms(
        torch.stack(psi, -1),
        torch.stack(phi, -1),
        torch.bmm(base.mT, leak) / count,
        torch.bmm(base.mT, noise) / count,
    )


def _own_part(u: Tensor, alpha: Tensor, z: Tensor, b: Tensor) -> Tensor:
    """``psi``: the part of ``h`` that atom j contributes, with the threshold taken off it."""
    own = alpha.unsqueeze(-2) * z.unsqueeze(-1)
    b = b.unsqueeze(-2)
    return (own - b) * (u > b).to(u.dtype) + (own + b) * (u < -b).to(u.dtype)


def pseudo_loss(batch: Batch, theta: Tensor, w: Tensor, b: Tensor, tau: float) -> Tensor:
    """Definition E.10 (R,): anchors through a network ``theta`` with the gates of ``w`` frozen.

    Positives and negatives are encoded by ``w``. Convex in ``theta``; at ``theta = w`` it equals
    the loss, and so do the gradients.
    """
    seen = codes(batch, w, b)
    v = torch.bmm(batch.anchor, theta.mT)
    threshold = b.unsqueeze(-2)
    gated = (v - threshold) * (seen.u > threshold).to(v.dtype) + (v + threshold) * (
        seen.u < -threshold
    ).to(v.dtype)
    return contrastive_loss(seen._replace(anchor=gated), tau)
