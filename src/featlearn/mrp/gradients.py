"""Losses and their negative gradients in closed form, exact in the expectation over masks.

Section 4 of Pan, Zhou & Yan. ``theta`` is everywhere the probability that a patch is **kept** (the
mask ratio is ``1 - theta``); like a learning rate it may be a number or one number a replicate,
shape (R,), so that the points of a sweep train in one batch.

Shapes: patches ``x`` (R, N, P, d), kernels ``w`` (R, K, d), heads ``u`` (R, k, K), labels ``y``
(R, N) int64.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from featlearn.mrp import fused
from featlearn.mrp.blocks import activate, responses
from featlearn.mrp.model import Activation, smoothed_relu


def per_replicate(value: float | Tensor, like: Tensor) -> float | Tensor:
    """A number, or (R,) numbers shaped to multiply a tensor (R, ., .)."""
    if isinstance(value, Tensor):
        return value.to(like).view(-1, 1, 1)
    return value


def _part(value: float | Tensor, chosen: slice) -> float | Tensor:
    """The same for some of the replicates."""
    return value[chosen] if isinstance(value, Tensor) else value


def mae_loss(x: Tensor, w: Tensor, theta: float | Tensor, activation: Activation) -> Tensor:
    """Expected MAE-style masked loss a sample (appendix H), averaged over the samples: (R,).

    With ``g_p = sum_r w_r R(<w_r, x_p>)`` and decoder scale ``1/theta`` it is
    ``1/2 sum_p [|x_p|^2 - 2 <x_p, g_p> + |g_p|^2 / theta]``: all patches count, masked ones by a
    constant only.
    """
    replicates, samples, patches, dimension = x.shape
    rows = x.reshape(replicates, samples * patches, dimension)
    s = smoothed_relu(torch.bmm(rows, w.transpose(1, 2)), activation.q, activation.varrho)
    g = torch.bmm(s, w)
    per_entry = rows * rows - 2 * rows * g + g * g / per_replicate(theta, g)
    return per_entry.sum((-1, -2)) / (2 * samples)


def mae_descent(x: Tensor, w: Tensor, theta: float | Tensor, activation: Activation) -> Tensor:
    """Negative gradient of :func:`mae_loss` with respect to ``w``: (R, K, d).

    With ``Delta_p = x_p - g_p / theta`` it is, for kernel r,
    ``mean_n sum_p [ S_rp Delta_p + R'_rp <w_r, Delta_p> x_p ]``. The products are arranged so that
    neither ``g`` nor ``Delta`` is formed: with ``Q = U - S (W W^T) / theta`` it equals
    ``(S + R' Q)^T X - (S^T S) W / theta``.
    """
    shrink = -1 / per_replicate(theta, w)
    coupling = torch.bmm(w, w.transpose(1, 2)) * shrink
    direct = torch.zeros_like(w)
    overlap = torch.zeros_like(coupling)
    if fused.is_patch_major(x):
        _mae_fused(x, w, coupling, direct, overlap, activation)
        return (direct + torch.bmm(overlap, w) * shrink) / x.shape[1]
    for block in responses(x, w, activation):
        chosen = block.replicates
        overlap[chosen].baddbmm_(block.s.transpose(1, 2), block.s)
        block.u.baddbmm_(block.s, coupling[chosen])
        block.u.mul_(block.slope).add_(block.s)
        direct[chosen].baddbmm_(block.u.transpose(1, 2), block.x)
    return (direct + torch.bmm(overlap, w) * shrink) / x.shape[1]


def _mae_fused(
    x: Tensor, w: Tensor, coupling: Tensor, direct: Tensor, overlap: Tensor, activation: Activation
) -> None:
    """Add ``(S + R' Q)^T X`` to ``direct`` and ``S^T S`` to ``overlap``, with compiled passes."""
    q, varrho = activation.q, activation.varrho
    spare = None
    for block in fused.responses(x, w, varrho):
        chosen, t = block.replicates, block.t
        if spare is None:
            spare = x.new_empty((2, t.numel()))
        s, pulled = (part[: t.numel()].view(t.shape) for part in spare)
        fused.activate(t, s, q)
        rows = s.view(s.shape[0], -1, w.shape[1])
        torch.bmm(rows, coupling[chosen], out=pulled.view(rows.shape))
        overlap[chosen].baddbmm_(rows.transpose(1, 2), rows)
        fused.mae(t, pulled, q)
        block.add_to(direct[chosen])
    direct.mul_(varrho)
    overlap.mul_(varrho**2)


def mae_descent_as_printed(
    x: Tensor, w: Tensor, theta: float | Tensor, activation: Activation
) -> Tensor:
    """The vector that Fact 2.2 prints for :func:`mae_descent`: it is **not** the gradient.

    ``mean_n sum_p A_rp Delta_p`` with ``A_rp = S_rp + R'_rp [<w_r, x_p>]^+``: the second term swaps
    the roles of ``x_p`` and ``Delta_p``. Kept to show the difference.
    """
    shrink = -1 / per_replicate(theta, w)
    direct = torch.zeros_like(w)
    overlap = w.new_zeros((w.shape[0], w.shape[1], w.shape[1]))
    for block in responses(x, w, activation):
        block.u.clamp_min_(0).mul_(block.slope).add_(block.s)
        chosen = block.replicates
        overlap[chosen].baddbmm_(block.u.transpose(1, 2), block.s)
        direct[chosen].baddbmm_(block.u.transpose(1, 2), block.x)
    return (direct + torch.bmm(overlap, w) * shrink) / x.shape[1]


def teacher_student_loss(
    x: Tensor, w: Tensor, target: Tensor, theta: float | Tensor, activation: Activation
) -> Tensor:
    """Expected teacher-student masked loss a sample (equation (3)), mean over the samples: (R,).

    ``1/2 sum_r Phi_r^2 + 1/2 (1/theta - 1) sum_r sum_p S_rp^2`` with ``Phi_r = target_r - sum_p
    S_rp`` and decoder scale ``1/theta``. ``target`` (R, N, K): the teacher's output on the unmasked
    samples; no gradient flows through it.
    """
    replicates, samples, patches, dimension = x.shape
    rows = x.reshape(replicates, samples * patches, dimension)
    s = smoothed_relu(torch.bmm(rows, w.transpose(1, 2)), activation.q, activation.varrho)
    s = s.view(replicates, samples, patches, -1)
    variance = (1 / per_replicate(theta, target) - 1) * (s * s).sum(2)
    return ((target - s.sum(2)) ** 2 + variance).sum((-1, -2)) / (2 * samples)


def teacher_student_descent(
    x: Tensor, w: Tensor, theta: float | Tensor, activation: Activation, *, tau: float | Tensor
) -> Tensor:
    """Negative gradient of :func:`teacher_student_loss` (Fact 2.1), the teacher held constant.

    ``mean_n sum_p (Phi_r - (1/theta - 1) S_rp) R'_rp x_p``. Kernels do not interact. ``tau``:
    teacher factor: the teacher's kernels are ``tau * w``. Returns a Tensor (R, K, d).
    """
    if fused.is_patch_major(x):
        return _teacher_student_fused(x, w, theta, activation, tau)
    patches = x.shape[2]
    pull = 1 / per_replicate(theta, w) - 1
    total = torch.zeros_like(w)
    for block in responses(x, w, activation):
        chosen = block.replicates
        student = block.per_sample(block.s, patches)
        block.u.mul_(_part(per_replicate(tau, w), chosen))
        teacher = torch.empty_like(block.u)
        activate(block.u, teacher, torch.empty_like(teacher), block.spare, activation)
        phi = (block.per_sample(teacher, patches) - student).sum(2)
        block.s.mul_(-_part(pull, chosen))
        student.add_(phi.unsqueeze(2))
        block.s.mul_(block.slope)
        total[chosen].baddbmm_(block.s.transpose(1, 2), block.x)
    return total / x.shape[1]


def _teacher_student_fused(
    x: Tensor, w: Tensor, theta: float | Tensor, activation: Activation, tau: float | Tensor
) -> Tensor:
    q, varrho = activation.q, activation.varrho
    each = w.new_ones((w.shape[0], 1, 1))
    pull = each * (1 / per_replicate(theta, w) - 1)
    factor = each * per_replicate(tau, w)
    total = torch.zeros_like(w)
    for block in fused.responses(x, w, varrho):
        chosen = block.replicates
        fused.teacher_student(block.t, factor[chosen], pull[chosen], q)
        block.add_to(total[chosen])
    return total * (varrho / x.shape[1])


def teacher_factor(
    schedule: str, step: int, theta: float | Tensor, patches_per_feature: int, q: int
) -> float | Tensor:
    """The teacher factor ``tau_t = 1 + (1-theta)/(C_p theta) + delta_t`` (not a moving average).

    ``schedule``: ``main`` (delta = 1/(t+1), main text), ``appendix`` (1/(t^(1/q)+1), the proofs),
    ``constant`` (delta = 0), or ``one`` (tau = 1, with which kernels shrink).
    ``patches_per_feature``: ``C_p``.
    """
    if schedule == "one":
        return 1.0
    base = 1 + (1 - theta) / (patches_per_feature * theta)
    match schedule:
        case "main":
            return base + 1 / (step + 1)
        case "appendix":
            return base + 1 / (step ** (1 / q) + 1)
        case "constant":
            return base
    raise ValueError(f"schedule: {schedule!r}; expected main, appendix, constant or one")


class Descent(NamedTuple):
    """Result of one pass: negative gradients, and what the samples gave before the step."""

    w: Tensor  #: (R, K, d)
    u: Tensor  #: (R, k, K)
    loss: Tensor  #: (R,), mean cross-entropy
    accuracy: Tensor  #: (R,), share of correct predictions
    wrong_mass: Tensor  #: (R,), mean probability of wrong classes, the paper's ``1 - logit_y``


def classification_descent(
    x: Tensor, y: Tensor, w: Tensor, u: Tensor, activation: Activation
) -> Descent:
    """Negative gradients of the mean cross-entropy of ``softmax(u h(X))``: (14), (15)."""
    if fused.is_patch_major(x):
        return _classification_fused(x, y, w, u, activation)
    samples, patches = x.shape[1], x.shape[2]
    down_w, down_u = torch.zeros_like(w), torch.zeros_like(u)
    sums = x.new_zeros((3, x.shape[0]))
    for block in responses(x, w, activation):
        chosen = block.replicates
        h = block.per_sample(block.s, patches).sum(2)
        residual, block_sums = _residual(h, y[chosen, block.samples], u[chosen])
        down_u[chosen].baddbmm_(residual.transpose(1, 2), h)
        push = torch.bmm(residual, u[chosen])
        block.per_sample(block.slope, patches).mul_(push.unsqueeze(2))
        down_w[chosen].baddbmm_(block.slope.transpose(1, 2), block.x)
        sums[:, chosen] += block_sums
    return Descent(down_w / samples, down_u / samples, *(sums / samples))


def _classification_fused(
    x: Tensor, y: Tensor, w: Tensor, u: Tensor, activation: Activation
) -> Descent:
    samples, kernels, varrho = x.shape[1], w.shape[1], activation.varrho
    down_w, down_u = torch.zeros_like(w), torch.zeros_like(u)
    sums = x.new_zeros((3, x.shape[0]))
    scaled = u * varrho  # the blocks count in units of varrho
    for block in fused.responses(x, w, varrho):
        chosen = block.replicates
        h = fused.summed(block.t, activation.q).view(chosen.stop - chosen.start, -1, kernels)
        residual = torch.bmm(scaled[chosen], h.transpose(1, 2))
        fused.judge(residual, y[chosen, block.samples], sums[:, chosen])
        down_u[chosen].baddbmm_(residual, h)
        push = torch.bmm(residual.transpose(1, 2), u[chosen])
        fused.weigh(block.t, push.flatten(1), activation.q)
        block.add_to(down_w[chosen])
    return Descent(down_w / samples, down_u * (varrho / samples), *(sums / samples))


def _residual(h: Tensor, y: Tensor, u: Tensor) -> tuple[Tensor, Tensor]:
    """``1{i=y} - softmax_i`` (R, B, k); summed loss, correct predictions, wrong mass (3, R)."""
    log_share = torch.log_softmax(torch.bmm(h, u.transpose(1, 2)), dim=-1)
    picked = log_share.gather(-1, y.unsqueeze(-1)).squeeze(-1)
    hits = (log_share.argmax(-1) == y).to(h.dtype).sum(-1)
    sums = torch.stack([-picked.sum(-1), hits, -torch.expm1(picked).sum(-1)])
    residual = log_share.exp().neg_()
    residual.scatter_add_(-1, y.unsqueeze(-1), torch.ones_like(picked).unsqueeze(-1))
    return residual, sums


def encode_in_blocks(x: Tensor, w: Tensor, activation: Activation) -> Tensor:
    """Encoder outputs (R, N, K) without ever holding the responses to all patches."""
    patches = x.shape[2]
    h = x.new_empty((x.shape[0], x.shape[1], w.shape[1]))
    for block in responses(x, w, activation):
        torch.sum(block.per_sample(block.s, patches), 2, out=h[block.replicates, block.samples])
    return h
