"""The elementwise passes of a training step, each fused into one loop by ``torch.compile``.

Beside its matrix products a step looks at every response ``<w_r, x_p>`` twice. Plain PyTorch needs
a dozen passes over memory for that; compiled, it is two.

Responses are laid out **patch-major**, (R, P, N * K): sums over patches then add contiguous rows.
So are patches, once before a training: :func:`prepared` returns ``x`` of the same shape with other
strides, which make :mod:`featlearn.mrp.gradients` take the compiled passes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, wraps
from typing import Any, NamedTuple, TypeVar, cast

import torch
from torch import Tensor

from featlearn.core.training import devices
from featlearn.mrp.model import Activation

#: Responses of a block, in bytes: a part of the processor's last cache, and few enough calls.
#: With half or twice as much a step takes 1 to 7 % longer.
BLOCK_BYTES = 1 << 23


def prepared(x: Tensor, kernels: int, steps: int, activation: Activation) -> Tensor:
    """``x`` (R, N, P, d) laid out for compiled passes, if compiling is worth it; else as it is.

    ``kernels``, ``steps``: the work is counted for one replicate, so that a replicate alone gives
    what it gives in a batch.
    """
    work = x.shape[1] * x.shape[2] * kernels * steps
    if x.device.type != "cpu" or not devices.worth_compiling(work):
        return x
    trial = x.new_zeros((2, 3, 32))
    works = devices.compiler_works(lambda: summed(trial, activation.q))
    return patch_major(x) if works else x


def patch_major(x: Tensor) -> Tensor:
    """The same numbers and shape (R, N, P, d), stored as (R, P, N, d)."""
    return x.transpose(1, 2).contiguous().transpose(1, 2)


def is_patch_major(x: Tensor) -> bool:
    return not x.is_contiguous() and x.transpose(1, 2).is_contiguous()


def select(x: Tensor, chosen: Tensor) -> Tensor:
    """The chosen replicates of (R, N, P, d), stored in the same way."""
    if is_patch_major(x):
        return x.transpose(1, 2)[chosen].transpose(1, 2)
    return x[chosen]


class FusedBlock(NamedTuple):
    """Some replicates and consecutive samples, r and B of them, and what their kernels give."""

    replicates: slice
    samples: slice
    x: Tensor  #: (r, P * B, d), patch after patch
    t: Tensor  #: (r, P, B * K), responses in units of ``varrho``; a buffer that passes write into

    def add_to(self, total: Tensor) -> None:
        """Add ``sum_p t_rp x_p`` to ``total`` (r, K, d), with what a pass left in ``t``."""
        t = self.t.view(self.t.shape[0], -1, total.shape[1])
        total.baddbmm_(t.transpose(1, 2), self.x)


def responses(x: Tensor, w: Tensor, varrho: float) -> Iterator[FusedBlock]:
    """Run kernels over patch-major samples, block by block."""
    replicates, samples, patches, dimension = x.shape
    kernels = w.shape[1]
    fitting = BLOCK_BYTES // (patches * kernels * x.element_size())
    together = min(replicates, max(1, fitting // samples))
    size = min(samples, max(1, fitting))
    buffer = x.new_empty(together * patches * size * kernels)
    stored, scaled = x.transpose(1, 2), (w / varrho).transpose(1, 2)
    for first in range(0, replicates, together):
        chosen = slice(first, min(first + together, replicates))
        for start in range(0, samples, size):
            part = slice(start, min(start + size, samples))
            rows = stored[chosen, :, part].reshape(chosen.stop - first, -1, dimension)
            t = buffer[: rows.shape[0] * rows.shape[1] * kernels]
            torch.bmm(rows, scaled[chosen], out=t.view(rows.shape[0], -1, kernels))
            yield FusedBlock(chosen, part, rows, t.view(rows.shape[0], patches, -1))


# All in units of varrho; t (R, P, B * K). Compiled at their first call.

_compiled = cache(devices.compiled)
Pass = TypeVar("Pass", bound=Callable[..., Any])


def _fused(function: Pass) -> Pass:
    return cast(Pass, wraps(function)(lambda *given: _compiled(function)(*given)))


def _activated(t: Tensor, q: int) -> tuple[Tensor, Tensor]:
    """Smoothed ReLU and its derivative, by ``relu(t) - relu(t - 1)``, cheaper than a clamp."""
    over = torch.relu(t - 1)
    a = torch.relu(t) - over
    slope = a
    for _ in range(q - 2):
        slope = slope * a
    return over + slope * a * (1 / q), slope


@_fused
def summed(t: Tensor, q: int) -> Tensor:
    """The responses after the activation, summed over the patches (R, B * K)."""
    return _activated(t, q)[0].sum(1)


@_fused
def weigh(t: Tensor, push: Tensor, q: int) -> None:
    """``t`` becomes the activation's derivative times ``push`` (R, B * K)."""
    t.copy_(_activated(t, q)[1] * push.unsqueeze(1))


@_fused
def teacher_student(t: Tensor, tau: Tensor, pull: Tensor, q: int) -> None:
    """``t`` becomes ``(Phi - pull S) R'``; ``tau`` and ``pull`` (R, 1, 1)."""
    s, slope = _activated(t, q)
    phi = (_activated(t * tau, q)[0] - s).sum(1, keepdim=True)
    t.copy_((phi - pull * s) * slope)


@_fused
def activate(t: Tensor, s: Tensor, q: int) -> None:
    """``s`` becomes the responses after the activation; shapes as ``t``."""
    s.copy_(_activated(t, q)[0])


@_fused
def mae(t: Tensor, pulled: Tensor, q: int) -> None:
    """``t`` becomes ``S + R' (t + pulled)``; shapes as ``t``."""
    s, slope = _activated(t, q)
    t.copy_(s + slope * (t + pulled))


@_fused
def judge(scores: Tensor, y: Tensor, sums: Tensor) -> None:
    """``scores`` (R, k, B) become ``1{i=y} - softmax_i``; ``y`` (R, B) are the labels.

    Adds to ``sums`` (3, R) the loss, the correct predictions and the mass on wrong classes.
    """
    own = torch.arange(scores.shape[1]).view(1, -1, 1) == y.unsqueeze(1)
    top = scores.amax(1, keepdim=True)
    shares = torch.exp(scores - top)
    mass = shares.sum(1)
    shares = shares / mass.unsqueeze(1)
    loss = torch.log(mass) - torch.where(own, scores - top, 0.0).sum(1)
    first = scores.argmax(1)
    sums[0] += loss.sum(1)
    sums[1] += (first == y).to(sums.dtype).sum(1)
    sums[2] += torch.where(own, 0.0, shares).sum((1, 2))
    scores.copy_(own.to(scores.dtype) - shares)
