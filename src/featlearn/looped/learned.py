"""Weights and steps that are learned through the loops. Ours: the chapter trains nothing.

Under the printed mask examples never change, and the whole model is linear in the query's row z,
so that of a prompt it needs only the Gram matrix G of its examples (x_i, y_i)::

    z <- z - eta^(t) z Q G P,    from z = (0, alpha),    TF = -z[:d]

Both losses are sums of squares and the parameters few, so that they are fitted as such.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Generator, Tensor

from featlearn.core.run.progress import Progress
from featlearn.looped.data import DTYPE, Prompts
from featlearn.looped.model import construction


class Arm(NamedTuple):
    """What is learned, and for which loss."""

    weights: bool  #: Q and P too; else the steps of the construction alone
    loss: str  #: ``parameter`` or ``prediction``


ARMS = {
    "steps": Arm(False, "parameter"), "all": Arm(True, "parameter"),
    "steps, as printed": Arm(False, "prediction"), "all, as printed": Arm(True, "prediction"),
}  # fmt: skip


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


class Seen(NamedTuple):
    """What of prompts a layer sees, and what they hide."""

    gram: Tensor  #: of the examples with their labels, over n: (..., d + 1, d + 1)
    theta: Tensor  #: (..., d)

    @classmethod
    def of(cls, prompts: Prompts) -> Seen:
        """Of prompts (...)."""
        examples = prompts.tokens[..., :-1, :]
        return cls(examples.mT @ examples / prompts.x.shape[-2], prompts.theta)


def errors(found: Tensor, theta: Tensor) -> dict[str, Tensor]:
    """Mean squared errors over prompts, (...), of outputs over alpha and theta* (..., B, d).

    ``prediction`` (Definition 8.4), over alpha; ``parameter``, \\|q / alpha - theta*\\|^2.
    """
    return {"parameter": (found - theta).square().sum(-1).mean(-1),
            "prediction": ((found * theta).sum(-1) - 1).square().mean(-1)}  # fmt: skip


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


#: Prompts that are differentiated at once: as many as a cache holds.
IN_CACHE = 500


def residuals(model: Looped, gram: Tensor, theta: Tensor, loss: str) -> Tensor:
    """(..., B, d) or (..., B, 1): the sum of their squares, averaged over prompts, is the loss."""
    found = model(gram)
    if loss == "parameter":
        return found - theta
    return (found * theta).sum(-1, keepdim=True) - 1


def jacobian(model: Looped, gram: Tensor, theta: Tensor, arm: Arm) -> Tensor:
    """Slopes of the residuals by what an arm learns, (..., parameters, r B), r residuals a prompt.

    Back through the loops, with s = z Q G and a the slope of a residual by the z that follows::

        by eta: -<s P, a>    by P: -eta s a^T    by Q: -eta z (G P a)^T    a <- a - eta Q G P a

    Prompts stand last, (..., d + 1, r, B): one by one they are too small to be worth a product.
    """
    grams = gram.movedim(-3, -1).unsqueeze(-2)  # (R, d + 1, d + 1, 1, B)

    def from_left(matrix: Tensor, x: Tensor) -> Tensor:
        return torch.einsum("...ij,...jrb->...irb", matrix, x)

    def seen(x: Tensor) -> Tensor:
        return (grams * x.unsqueeze(-4)).sum(-3)

    size, count = gram.shape[-1], gram.shape[-3]
    z = gram.new_zeros(*model.q.shape[:-1], 1, count)
    z[..., -1, :, :] = 1
    trail = []
    for step in model.steps.unbind(-1):
        s = seen(from_left(model.q.mT, z))
        moved = from_left(model.p.mT, s)
        trail.append((z, s, moved))
        z = z - step[..., None, None, None] * moved
    if arm.loss == "parameter":
        a = -torch.eye(size, dtype=DTYPE)[:, :-1, None].expand(-1, -1, count)
    else:
        a = -torch.nn.functional.pad(theta, (0, 1)).mT.unsqueeze(-2)
    a = a.expand(*model.q.shape[:-1], *a.shape[-2:])
    slopes = gram.new_zeros(*a.shape[:-3], 2 * size**2 + len(trail), *a.shape[-2:])
    by_q, by_p, by_steps = torch.split(slopes, [size**2, size**2, len(trail)], -3)
    by_q, by_p = (torch.unflatten(own, -3, (size, size)) for own in (by_q, by_p))
    for place, (z, s, moved) in reversed(list(enumerate(trail))):
        by_steps[..., place, :, :] = -(moved * a).sum(-3)
        eta = model.steps[..., place, None, None, None]
        back = eta * seen(from_left(model.p, a))
        if arm.weights:
            by_q.addcmul_(z.unsqueeze(-3), back.unsqueeze(-4), value=-1)
            by_p.addcmul_(s.unsqueeze(-3), (eta * a).unsqueeze(-4), value=-1)
        a = a - from_left(model.q, back)
    return (slopes if arm.weights else by_steps).flatten(-2)


def normal_equations(
    model: Looped, gram: Tensor, theta: Tensor, r: Tensor, arm: Arm
) -> tuple[Tensor, Tensor]:
    """J J^T and J r, of the Jacobian J and all residuals r (..., B, d or 1)."""
    normal, pull = torch.zeros(()), torch.zeros(())
    parts = (torch.split(own, IN_CACHE, axis) for own, axis in ((gram, -3), (theta, -2), (r, -2)))
    for some, wanted, off in zip(*parts, strict=True):
        j = jacobian(model, some, wanted, arm)
        normal = normal + j @ j.mT
        pull = pull + (j @ off.mT.flatten(-2)[..., None]).squeeze(-1)
    return normal, pull


class Fit(NamedTuple):
    """Looped layers that least squares has trained."""

    model: Looped  #: (..., R, ...)
    loss: Tensor  #: (..., R), on the prompts of the training


#: A fit has converged when its loss falls by less than this share in so many iterations.
CONVERGED, PATIENCE = 1e-5, 5


def fit(arm: Arm, start: Looped, training: Seen, iterations: int, progress: Progress) -> Fit:
    """Levenberg and Marquardt's method through the loops, on fixed prompts, all fits at once.

    Gradient descent takes thousands of steps here, because the entries of Q and P differ in scale
    by orders of magnitude where it ends. ``start``: (starts, R, ...). ``training``: (R, B), shared
    by the starts of a replicate. ``iterations``: at most; fewer if all fits have converged.
    """
    flat, width = packed(start), start.q.shape[-1]
    free = slice(0 if arm.weights else 2 * width**2, None)

    def error(at: Tensor) -> tuple[Tensor, Tensor]:
        r = residuals(unpacked(at, width), *training, arm.loss)
        return r, r.square().sum(-1).mean(-1).nan_to_num(math.inf)

    r, loss = error(flat)
    history = [loss]
    damping = torch.full_like(loss, 1e-2)
    pull = torch.zeros_like(flat[..., free])
    normal = torch.diag_embed(pull)
    moved = torch.ones(loss.shape[1:], dtype=torch.bool)  # (R,)
    for iteration in range(iterations):
        # where no start has moved the equations are those of the iteration before
        own = unpacked(flat[:, moved], width)
        given = (training.gram[moved], training.theta[moved])
        equations = normal_equations(own, *given, r[:, moved], arm)
        for kept, new in zip((normal, pull), equations, strict=True):
            kept[:, moved] = new
        scale = normal.diagonal(dim1=-2, dim2=-1)
        damped = scale * damping[..., None] + 1e-12 * scale.amax(-1, keepdim=True)
        move = torch.linalg.solve(normal + torch.diag_embed(damped), pull)
        tried = flat.clone()
        tried[..., free] -= move
        new, less = error(tried)
        better = less < loss
        moved = better.any(0)
        flat = torch.where(better[..., None], tried, flat)
        r, loss = torch.where(better[..., None, None], new, r), torch.where(better, less, loss)
        damping = torch.where(better, damping / 3, damping * 4).clamp(1e-10, 1e8)
        history = [*history[-PATIENCE:], loss]
        progress.report(iteration + 1, dict)
        still = len(history) <= PATIENCE or loss < (1 - CONVERGED) * history[0]
        if not torch.as_tensor(still).any():
            break
    return Fit(unpacked(flat, width), loss)


def chosen(fitted: Fit, arm: Arm, validation: Seen) -> Looped:
    """The start with the least error on validation prompts, replicate by replicate: (R, ...)."""
    found = errors(fitted.model(validation.gram), validation.theta)[arm.loss]
    best = found.nan_to_num(math.inf).argmin(0)  # (R,)
    replicates = torch.arange(len(best))
    return Looped(*(part[best, replicates] for part in fitted.model))
