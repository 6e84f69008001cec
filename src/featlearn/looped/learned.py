"""Weights and steps that are learned through the loops. Ours: the chapter trains nothing.

Under the printed mask examples never change, and the whole model is linear in the query's row z,
so that of a prompt it needs only the Gram matrix G of its examples (x_i, y_i)::

    z <- z - eta^(t) z Q G P,    from z = (0, alpha),    TF = -z[:d]

Both losses are sums of squares and the parameters few, so that they are fitted as such.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import torch
from torch import Generator, Tensor
from torch.func import jacrev, vmap

from featlearn.core.progress import Progress
from featlearn.looped.data import DTYPE, Prompts
from featlearn.looped.model import construction


class Arm(NamedTuple):
    """What is learned, and for which loss."""

    weights: bool  #: Q and P too, from a random start; else the steps of the construction alone
    loss: str  #: ``parameter`` or ``prediction``


ARMS = {
    "steps": Arm(False, "parameter"),
    "all": Arm(True, "parameter"),
    "steps, as printed": Arm(False, "prediction"),
    "all, as printed": Arm(True, "prediction"),
}


class Looped(NamedTuple):
    """Weights of the looped layer; steps in units of 1 / n."""

    q: Tensor  #: (..., d + 1, d + 1)
    p: Tensor  #: (..., d + 1, d + 1)
    steps: Tensor  #: (..., T)

    def __call__(self, gram: Tensor) -> Tensor:
        """TF / alpha, (..., B, d), of Gram matrices over n (..., B, d + 1, d + 1)."""
        z = torch.zeros_like(gram[..., 0, :])
        z[..., -1] = 1
        for step in self.steps.unbind(-1):
            scores = ((z @ self.q)[..., None, :] @ gram).squeeze(-2)
            z = z - step[..., None, None] * (scores @ self.p)
        return -z[..., :-1]


def gram(prompts: Prompts) -> Tensor:
    """Of the examples with their labels, over n: (..., d + 1, d + 1)."""
    examples = prompts.tokens[..., :-1, :]
    return examples.mT @ examples / prompts.x.shape[-2]


def errors(found: Tensor, theta: Tensor) -> dict[str, Tensor]:
    """Mean squared errors over prompts, (...), of outputs over alpha and theta* (..., B, d).

    ``prediction`` is what Definition 8.4 asks for, over alpha; ``parameter`` what the chapter
    bounds, \\|q / alpha - theta*\\|^2.
    """
    return {
        "parameter": (found - theta).square().sum(-1).mean(-1),
        "prediction": ((found * theta).sum(-1) - 1).square().mean(-1),
    }


def begin(
    arm: Arm, streams: Sequence[Generator], starts: int, dimension: int, loops: int, scale: float
) -> Looped:
    """Starts of an arm, (starts, R, ...): the same draws for each arm.

    The construction, with Gaussian noise of deviation ``scale`` on what the arm learns of Q and P.
    Steps begin between 0 and 1, apart: steps that are equal have equal gradients, and stay so.
    """
    size = (dimension + 1, dimension + 1)
    noise = torch.stack([
        torch.randn(starts, 2, *size, generator=stream, dtype=DTYPE) for stream in streams
    ], 1)  # fmt: skip
    steps = torch.stack([
        torch.rand(starts, loops, generator=stream, dtype=DTYPE) for stream in streams
    ], 1)  # fmt: skip
    printed = construction(1, dimension)
    q, p = noise.mul(scale * arm.weights).unbind(2)
    return Looped(printed.q + q, printed.p + p, steps)


def packed(model: Looped) -> Tensor:
    """All parameters, (..., 2 (d + 1)^2 + T)."""
    return torch.cat([model.q.flatten(-2), model.p.flatten(-2), model.steps], -1)


def unpacked(flat: Tensor, width: int) -> Looped:
    """The layer of such parameters, with ``width`` = d + 1."""
    size = width**2
    square = (*flat.shape[:-1], width, width)
    q, p = flat[..., :size].reshape(square), flat[..., size : 2 * size].reshape(square)
    return Looped(q, p, flat[..., 2 * size :])


def residuals(flat: Tensor, gram: Tensor, theta: Tensor, loss: str) -> Tensor:
    """Of one prompt, (d,) or (1,): the sum of their squares, averaged over prompts, is the loss."""
    found = unpacked(flat, len(theta) + 1)(gram[None])[0]
    return found - theta if loss == "parameter" else (found @ theta - 1)[None]


class Fit(NamedTuple):
    """Looped layers that least squares has trained."""

    model: Looped  #: (..., R, ...)
    loss: Tensor  #: (..., R), on the prompts of the training
    before: Tensor  #: (..., R), the same :data:`PATIENCE` iterations earlier


#: A fit has converged when its loss falls by less than this share in so many iterations.
CONVERGED, PATIENCE = 1e-5, 5


def fit(arm: Arm, start: Looped, training: Prompts, iterations: int, progress: Progress) -> Fit:
    """Levenberg and Marquardt's method through the loops, on fixed prompts, all fits at once.

    Gradient descent takes thousands of steps here, because the entries of Q and P differ in scale
    by orders of magnitude where it ends.

    Parameters
    ----------
    start
        (starts, R, ...).
    training
        (R, B), shared by the starts of a replicate.
    iterations
        At most; fewer if all fits have converged.
    """
    flat = packed(start)
    free = slice(0 if arm.weights else start.q[0, 0].numel() * 2, None)
    of = partial(residuals, loss=arm.loss)
    over = [(None, 0, 0), (0, 0, 0), (0, None, None)]  # prompts, replicates, starts
    value: Callable[..., Tensor] = of
    slope: Callable[..., Tensor] = jacrev(of)
    for axes in over:
        value, slope = vmap(value, in_dims=axes), vmap(slope, in_dims=axes)
    given = (gram(training), training.theta)

    def error(at: Tensor) -> tuple[Tensor, Tensor]:
        r = value(at, *given)
        return r.flatten(-2), r.square().sum(-1).mean(-1).nan_to_num(math.inf)

    r, loss = error(flat)
    history = [loss]
    damping = torch.full_like(loss, 1e-2)
    for iteration in range(iterations):
        j = slope(flat, *given)[..., free].flatten(-3, -2)
        normal, pull = j.mT @ j, (j.mT @ r[..., None]).squeeze(-1)
        scale = normal.diagonal(dim1=-2, dim2=-1)
        damped = scale * damping[..., None] + 1e-12 * scale.amax(-1, keepdim=True)
        move = torch.linalg.solve(normal + torch.diag_embed(damped), pull)
        tried = flat.clone()
        tried[..., free] -= move
        new, less = error(tried)
        better = less < loss
        flat = torch.where(better[..., None], tried, flat)
        r, loss = torch.where(better[..., None], new, r), torch.where(better, less, loss)
        damping = torch.where(better, damping / 3, damping * 4).clamp(1e-10, 1e8)
        history = [*history[-PATIENCE:], loss]
        progress.report(iteration + 1, dict)
        still = len(history) <= PATIENCE or loss < (1 - CONVERGED) * history[0]
        if not torch.as_tensor(still).any():
            break
    model = unpacked(flat, start.q.shape[-1])
    return Fit(model, loss, history[0])


def chosen(fitted: Fit, arm: Arm, validation: Prompts) -> Fit:
    """The start with the least error on validation prompts, replicate by replicate: (R, ...)."""
    found = errors(fitted.model(gram(validation)), validation.theta)[arm.loss]
    best = found.nan_to_num(math.inf).argmin(0)  # (R,)
    replicates = torch.arange(len(best))
    model = Looped(*(part[best, replicates] for part in fitted.model))
    return Fit(model, fitted.loss[best, replicates], fitted.before[best, replicates])
