"""Linear probe: logistic regression on frozen features, solved to its optimum.

The usual probe runs 100 epochs of SGD and stops somewhere near the optimum, at a place that
depends on the learning rate. Here the penalised problem is solved: its value is a property of the
features. The objective is that of scikit-learn's ``LogisticRegression``, divided by ``C * N``::

    mean_n loss(W x_n + b, y_n) + penalty / 2 * |W|^2,      penalty = 1 / (C * N)

with the intercept ``b`` free. It is minimised by truncated Newton steps with conjugate gradients.
Two exact changes of coordinates make that fast for a whole path of penalties: with fewer images
than features the problem lives in the span of the images, and in the eigenbasis of the features'
covariance the Hessian is close to diagonal, whatever the penalty.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import pandas as pd
import torch
from torch import Tensor
from torch.nn import functional

from featlearn.core.errors import FeatlearnError

#: Penalties that are tried, largest first: for standardised features, ``1 / (C * N)``.
PENALTIES = tuple(10.0 ** (-half / 2) for half in range(0, 15))
#: Half the Newton decrement (the estimated distance to the optimum) over the objective, at the end.
TOLERANCE = 1e-5
#: The same for the first, single-precision part of the way.
ROUGH = 1e-4
NEWTON_STEPS = 100
CG_STEPS = 250
#: A Newton step is solved until its squared residual has fallen to this share: of the shares tried
#: on correlated features, the one with the fewest products from start to optimum.
FORCING = 0.25
#: A step must bring this share of the decrease that the slope promises (Armijo).
SUFFICIENT = 1e-4
#: Rows whose squares are held at a time.
BLOCK = 65536


class NotConvergedError(FeatlearnError, ArithmeticError):
    """The solver of a probe ended before it was at the optimum."""


# --------------------------------------------------------------------------- the problem


@dataclass(frozen=True)
class Problem:
    """A penalised logistic regression in coordinates that suit the solver.

    Parameters
    ----------
    x : (N, d + 1)
        Features, last column 1 for the intercept.
    y : (N, K)
        One-hot classes, or 0/1 labels if ``several``.
    counted : (N, K) or None
        Which labels count (only with ``several``); None for all.
    several
        K independent yes/no questions an image (sigmoid) instead of one of K classes (softmax).
    """

    x: Tensor
    y: Tensor
    counted: Tensor | None
    several: bool

    def in_float32(self) -> Problem:
        counted = None if self.counted is None else self.counted.float()
        return Problem(self.x.float(), self.y.float(), counted, self.several)

    def loss(self, z: Tensor) -> Tensor:
        """Mean over images of the loss at scores ``z`` (N, K); a scalar."""
        if not self.several:
            return (z.logsumexp(1) - (z * self.y).sum(1)).mean()
        each = functional.softplus(z) - z * self.y
        return (each if self.counted is None else each * self.counted).sum(1).mean()

    def probabilities(self, z: Tensor) -> Tensor:
        return z.sigmoid() if self.several else z.softmax(1)

    def gradient(self, p: Tensor) -> Tensor:
        """Of the loss by the parameters (K, d + 1), at probabilities ``p``."""
        wrong = p - self.y
        if self.counted is not None:
            wrong = wrong * self.counted
        return wrong.T @ self.x / len(self.x)

    def curvature(self, p: Tensor, direction: Tensor) -> Tensor:
        """The loss's Hessian at ``p``, times a direction (K, d + 1)."""
        moved = self.x @ direction.T
        if self.several:
            bent = self.spread(p) * moved
        else:
            bent = p * (moved - (p * moved).sum(1, keepdim=True))
        return bent.T @ self.x / len(self.x)

    def diagonal(self, p: Tensor) -> Tensor:
        """Diagonal of the loss's Hessian (K, d + 1): close to all of it, in the eigenbasis."""
        spread = self.spread(p)
        total = self.x.new_zeros(spread.shape[1], self.x.shape[1])
        for start in range(0, len(self.x), BLOCK):
            rows = slice(start, start + BLOCK)
            total += spread[rows].T @ self.x[rows].square()
        return total / len(self.x)

    def spread(self, p: Tensor) -> Tensor:
        """``p (1 - p)`` (N, K): what an image's own score bends the loss."""
        own = p * (1 - p)
        return own if self.counted is None else own * self.counted


class Optimum(NamedTuple):
    """Where the solver ended."""

    parameters: Tensor  #: (K, d + 1), intercept last
    objective: float
    gap: float  #: estimated distance to the smallest objective, relative
    steps: int
    converged: bool


def solve(
    problem: Problem, penalty: float, start: Tensor, *, tolerance: float = TOLERANCE
) -> Optimum:
    """Minimise ``problem`` at one penalty, from ``start`` (K, d + 1), by truncated Newton steps."""
    ridge = torch.full_like(problem.x[0], penalty)
    ridge[-1] = 0  # the intercept is free
    theta = start.clone()
    z = problem.x @ theta.T
    value = problem.loss(z) + (ridge * theta.square()).sum() / 2
    gap = float("inf")
    for step in range(NEWTON_STEPS):
        p = problem.probabilities(z)
        slope = problem.gradient(p) + ridge * theta
        diagonal = problem.diagonal(p) + ridge
        direction = _conjugate_gradients(problem, p, ridge, slope, diagonal)
        decrease = -(slope * direction).sum()
        gap = float(decrease / (2 * value))
        moved = problem.x @ direction.T  # scores are linear: no product in the line search
        length, value = _line_search(
            problem, (z, moved), (theta, direction), ridge, value, decrease
        )
        theta, z = theta + length * direction, z + length * moved
        if gap <= tolerance:
            return Optimum(theta, float(value), gap, step + 1, True)
        if length == 0:
            break
    return Optimum(theta, float(value), gap, step + 1, False)


def _conjugate_gradients(
    problem: Problem, p: Tensor, ridge: Tensor, slope: Tensor, diagonal: Tensor
) -> Tensor:
    """Solve Hessian times direction = -slope, as far as a Newton step is worth it."""
    # a class that no image can have any more, or one that all have, bends nothing
    inverse = 1 / diagonal.clamp_min(torch.finfo(diagonal.dtype).eps)
    direction = torch.zeros_like(slope)
    residual = -slope
    scaled = inverse * residual
    along = scaled
    size = first = (residual * scaled).sum()
    wanted = first * FORCING
    for _ in range(CG_STEPS):
        if size <= wanted:
            break
        bent = problem.curvature(p, along) + ridge * along
        length = size / (along * bent).sum()
        direction = direction + length * along
        residual = residual - length * bent
        scaled = inverse * residual
        size, before = (residual * scaled).sum(), size
        along = scaled + size / before * along
    return direction


def _line_search(
    problem: Problem,
    scores: tuple[Tensor, Tensor],
    parameters: tuple[Tensor, Tensor],
    ridge: Tensor,
    value: Tensor,
    decrease: Tensor,
) -> tuple[float, Tensor]:
    """Halve the step until it brings enough; returns its length (0: none does) and the value."""
    length = 1.0
    rounding = 8 * torch.finfo(value.dtype).eps * value.abs()
    while length > 1e-6:
        theta = parameters[0] + length * parameters[1]
        z = scores[0] + length * scores[1]
        tried = problem.loss(z) + (ridge * theta.square()).sum() / 2
        if tried <= value - SUFFICIENT * length * decrease + rounding:
            return length, tried
        length /= 2
    return 0.0, value


# --------------------------------------------------------------------------- coordinates


@dataclass(frozen=True)
class Coordinates:
    """Features (N, width) to the solver's (N, d) and back: ``(x - mean) / scale @ basis``."""

    mean: Tensor
    scale: Tensor
    basis: Tensor  #: (width, d), orthonormal columns

    def back(self, parameters: Tensor) -> tuple[Tensor, Tensor]:
        """Weight (K, width) and bias (K,) on the features as they came."""
        weight = parameters[:, :-1] @ self.basis.T / self.scale
        return weight, parameters[:, -1] - weight @ self.mean


def change_coordinates(features: Tensor, *, standardise: bool) -> tuple[Tensor, Coordinates]:
    """Centre, scale and turn features (N, width); the problem's optimum is the same.

    Returns
    -------
    x : (N, d + 1)
        Coordinates in the eigenbasis of the covariance, last column 1; d = min(N, width).
    coordinates
        The way back.
    """
    mean = features.mean(0)
    centred = features - mean  # the features are the caller's; from here on in place
    scale = torch.ones_like(mean)
    if standardise:
        deviation = centred.square().mean(0).sqrt()
        # a feature that is constant up to rounding tells nothing: leave it as it is
        constant = deviation <= 10 * torch.finfo(mean.dtype).eps * mean.abs()
        scale = torch.where(constant, scale, deviation)
        centred /= scale
    basis = None
    if centred.shape[0] < centred.shape[1]:
        basis, upper = torch.linalg.qr(centred.T)  # (width, N), (N, N)
        centred = upper.T.contiguous()
    _, turn = torch.linalg.eigh(centred.T @ centred / len(centred))
    basis = turn if basis is None else basis @ turn
    x = torch.cat([centred @ turn, torch.ones_like(centred[:, :1])], 1)
    return x, Coordinates(mean, scale, basis)


# --------------------------------------------------------------------------- the probe


@dataclass(frozen=True)
class LinearProbe:
    """A fitted probe: scores are ``features @ weight.T + bias``.

    Parameters
    ----------
    weight : (K, width)
    bias : (K,)
    penalty
        Of the objective at the top of this file.
    objective
        Its smallest value.
    steps
        Newton steps in the final precision.
    """

    weight: Tensor
    bias: Tensor
    penalty: float
    objective: float
    steps: int

    def scores(self, features: Tensor) -> Tensor:
        """(N, K), on the device of ``features`` and in the precision of the probe."""
        weight = self.weight.to(features.device)
        return features.to(weight.dtype) @ weight.T + self.bias.to(features.device)

    def predict(self, features: Tensor) -> Tensor:
        """Class of each image, int64 (N,)."""
        return self.scores(features).argmax(1)


def fit_path(
    features: Tensor,
    labels: Tensor,
    classes: int,
    penalties: Sequence[float],
    *,
    standardise: bool = True,
    precision: Literal["float64", "float32"] = "float64",
    tolerance: float = TOLERANCE,
) -> list[LinearProbe]:
    """Fit a probe at each penalty, each from the optimum of the one before.

    Parameters
    ----------
    features : (N, width)
        Frozen features; the probe is solved on their device.
    labels : int64 (N,) or (N, classes)
        Class of each image; or, with several labels an image, 1 yes, 0 no, -1 not counted.
    classes
        Number of classes K.
    penalties
        Positive; fastest from the largest to the smallest.
    standardise
        Divide each feature by its standard deviation over these images.
    precision
        Floating-point type of the solver; ``float32`` for large problems on a GPU, and then with
        a ``tolerance`` of no less than 1e-5.
    tolerance
        Estimated distance to the smallest objective, relative, at which to stop.

    Raises
    ------
    ValueError
        If a penalty is not positive (separable data have no optimum without), labels do not fit,
        or features are not finite.
    NotConvergedError
        If the solver stops before it is at the optimum.
    """
    _check(features, labels, classes, penalties)
    dtype = getattr(torch, precision)
    x, coordinates = change_coordinates(features.to(dtype), standardise=standardise)
    problem = _problem(x, labels.to(x.device), classes)
    theta = x.new_zeros(classes, x.shape[1])
    theta[:, -1] = _log_odds(problem)
    rough = None if precision == "float32" else problem.in_float32()
    fitted = []
    for penalty in penalties:
        if rough is not None:  # most of the way in half the bytes; how far it came does not matter
            way = solve(rough, penalty, theta.float(), tolerance=ROUGH)
            if way.parameters.isfinite().all():
                theta = way.parameters.to(dtype)
        optimum = solve(problem, penalty, theta, tolerance=tolerance)
        if not optimum.converged:
            raise NotConvergedError(
                f"probe at penalty {penalty:g}: after {optimum.steps} steps the objective is still "
                f"{optimum.gap:.1e} (relative) above its minimum, expected {tolerance:g}; "
                "a larger penalty, standardised features or float64 help"
            )
        theta = optimum.parameters
        weight, bias = coordinates.back(theta)
        fitted.append(LinearProbe(weight, bias, penalty, optimum.objective, optimum.steps))
    return fitted


def _check(features: Tensor, labels: Tensor, classes: int, penalties: Sequence[float]) -> None:
    if not len(penalties) or min(penalties) <= 0:
        raise ValueError(f"penalties: expected positive numbers, got {list(penalties)}")
    if features.dim() != 2 or not len(features):
        raise ValueError(f"features: expected (images, width), got {tuple(features.shape)}")
    if not features.isfinite().all():
        raise ValueError("features: expected finite numbers")
    wanted = {(len(features),), (len(features), classes)}
    if tuple(labels.shape) not in wanted:
        raise ValueError(f"labels: expected a shape of {sorted(wanted)}, got {tuple(labels.shape)}")
    low, high = (0, classes - 1) if labels.dim() == 1 else (-1, 1)
    if labels.min() < low or labels.max() > high:
        raise ValueError(
            f"labels: expected integers from {low} to {high}, "
            f"got {int(labels.min())} to {int(labels.max())}"
        )


def _problem(x: Tensor, labels: Tensor, classes: int) -> Problem:
    if labels.dim() == 1:
        return Problem(x, functional.one_hot(labels, classes).to(x.dtype), None, several=False)
    counted = None if (labels >= 0).all() else (labels >= 0).to(x.dtype)
    return Problem(x, (labels > 0).to(x.dtype), counted, several=True)


def _log_odds(problem: Problem) -> Tensor:
    """Intercepts (K,) of the frequencies: the optimum at an infinite penalty, but for rounding."""
    share = (problem.y.sum(0) + 0.5) / (len(problem.y) + 1)
    return share.logit() if problem.several else share.log()


# --------------------------------------------------------------------------- choosing the penalty


@dataclass(frozen=True)
class Chosen:
    """A probe at the penalty that did best on the validation split, and the whole path."""

    probe: LinearProbe
    path: pd.DataFrame  #: penalty, objective, steps, score (on the validation split)


def choose_probe(
    training: tuple[Tensor, Tensor],
    validation: tuple[Tensor, Tensor],
    classes: int,
    penalties: Sequence[float] = PENALTIES,
    *,
    refit: bool = True,
    standardise: bool = True,
    precision: Literal["float64", "float32"] = "float64",
    tolerance: float = TOLERANCE,
) -> Chosen:
    """Fit the path of penalties and keep the one that scores best on the validation split.

    Parameters
    ----------
    training, validation
        Features (N, width) and labels, as in :func:`fit_path`.
    refit
        Fit again at that penalty on both splits together.

    Notes
    -----
    The score is the accuracy, or the mean average precision with several labels an image; of
    equal scores the one with the larger penalty counts.
    """
    penalties = sorted(penalties, reverse=True)

    def fit(data: tuple[Tensor, Tensor], chosen: Sequence[float]) -> list[LinearProbe]:
        return fit_path(
            *data, classes, chosen, standardise=standardise, precision=precision,
            tolerance=tolerance,
        )  # fmt: skip

    path = fit(training, penalties)
    scores = [score(probe.scores(validation[0]), validation[1]) for probe in path]
    best = max(range(len(path)), key=scores.__getitem__)  # the first of the best
    probe = path[best]
    if refit:
        both = (
            torch.cat([training[0], validation[0]]),
            torch.cat([training[1], validation[1]]),
        )
        probe = fit(both, [probe.penalty])[0]
    frame = pd.DataFrame(
        {
            "penalty": [one.penalty for one in path],
            "objective": [one.objective for one in path],
            "steps": [one.steps for one in path],
            "score": scores,
        }
    )
    return Chosen(probe, frame)


def score(scores: Tensor, labels: Tensor) -> float:
    """Accuracy for labels (N,); mean average precision for labels (N, K)."""
    labels = labels.to(scores.device)
    if labels.dim() == 1:
        return float((scores.argmax(1) == labels).double().mean())
    return float(average_precision(scores, labels).nanmean())


def average_precision(scores: Tensor, labels: Tensor, *, eleven_points: bool = False) -> Tensor:
    """Average precision of each class.

    Parameters
    ----------
    scores : (N, K)
    labels : (N, K)
        1 yes, 0 no, -1 not counted (an object that VOC marks as difficult).
    eleven_points
        The mean of the largest precision at recall 0, 0.1, ..., 1 or beyond (VOC 2007), instead of
        the area under the steps of precision over recall.

    Returns
    -------
    Tensor
        float64 (K,); nan for a class without a positive image.
    """
    columns = zip(scores.double().unbind(1), labels.unbind(1), strict=True)
    return torch.stack([_average_precision(s, y, eleven_points) for s, y in columns])


def _average_precision(scores: Tensor, labels: Tensor, eleven_points: bool) -> Tensor:
    scores, labels = scores[labels >= 0], labels[labels >= 0]
    order = scores.argsort(descending=True, stable=True)
    hit = (labels[order] > 0).double()
    found = hit.cumsum(0)
    if not len(found) or found[-1] == 0:
        return scores.new_full((), float("nan"))
    ranked = scores[order]
    last = torch.ones_like(hit, dtype=torch.bool)
    last[:-1] = ranked[1:] != ranked[:-1]  # equal scores are one threshold
    precision = (found / torch.arange(1, len(hit) + 1, device=hit.device))[last]
    recall = (found / found[-1])[last]
    if eleven_points:
        levels = torch.arange(11, device=hit.device, dtype=recall.dtype)[:, None] / 10
        reached = recall >= levels - 1e-12
        return torch.where(reached, precision, 0.0).amax(1).mean()
    gained = recall.diff(prepend=recall.new_zeros(1))
    return (gained * precision).sum()
