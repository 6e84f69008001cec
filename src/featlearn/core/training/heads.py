"""Linear heads, solved to their optimum: penalised regressions, all replicates at once.

So the value is a property of the features, and not of a rate or a number of steps. The objective
of a replicate is that of scikit-learn's ``LogisticRegression``, divided by ``C * N``::

    mean_n loss(W x_n + b, y_n) + penalty / 2 * |W|^2,      penalty = 1 / (C * N)

with the intercept ``b`` free, minimised by truncated Newton steps with conjugate gradients. Two
exact changes of coordinates make a path of penalties fast: the span of the samples, where these are
fewer than features, and the eigenbasis of the covariance, where the Hessian is nearly diagonal.
:class:`NotConvergedError` names a replicate that has not arrived. Ridge regression,
:func:`regress`, has a closed form in these coordinates.

Tensors carry a leading replicate axis R; a replicate that has arrived leaves the batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from featlearn.core.errors import FeatlearnError

#: Penalties that are tried, largest first: for standardised features, ``1 / (C * N)``.
PENALTIES = tuple(10.0 ** (-half / 2) for half in range(0, 15))
#: Half the squared norm of the gradient in the metric of the inverse Hessian (half the Newton
#: decrement, the estimated distance to the smallest objective) over the objective, at the end.
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
    """The solver of a head ended before it was at the optimum."""


@dataclass(frozen=True)
class Problem:
    """Penalised logistic regressions in coordinates that suit the solver, one a replicate.

    ``x`` (R, N, d + 1): features, last column 1 for the intercept. ``y`` (R, N, K): one-hot
    classes, or 0/1 labels if ``several``: K yes/no questions a sample (sigmoid) instead of one of K
    classes (softmax). ``counted`` (R, N, K): which of these labels count; None for all.
    """

    x: Tensor
    y: Tensor
    counted: Tensor | None
    several: bool

    def in_float32(self) -> Problem:
        counted = None if self.counted is None else self.counted.float()
        return Problem(self.x.float(), self.y.float(), counted, self.several)

    def of(self, chosen: Tensor) -> Problem:
        """The problems of the ``chosen`` replicates."""
        if bool(chosen.all()):
            return self
        counted = None if self.counted is None else self.counted[chosen]
        return Problem(self.x[chosen], self.y[chosen], counted, self.several)

    def loss(self, z: Tensor) -> Tensor:
        """(R,) mean over samples of the loss at scores ``z`` (R, N, K)."""
        if not self.several:
            return (z.logsumexp(-1) - (z * self.y).sum(-1)).mean(-1)
        each = functional.softplus(z) - z * self.y
        return (each if self.counted is None else each * self.counted).sum(-1).mean(-1)

    def probabilities(self, z: Tensor) -> Tensor:
        return z.sigmoid() if self.several else z.softmax(-1)

    def gradient(self, p: Tensor) -> Tensor:
        """Of the loss by the parameters (R, K, d + 1), at probabilities ``p``."""
        wrong = p - self.y
        if self.counted is not None:
            wrong = wrong * self.counted
        return wrong.mT @ self.x / self.x.shape[1]

    def curvature(self, p: Tensor, direction: Tensor) -> Tensor:
        """The loss's Hessian at ``p``, times a direction (R, K, d + 1)."""
        moved = self.x @ direction.mT
        if self.several:
            bent = self.spread(p) * moved
        else:
            bent = p * (moved - (p * moved).sum(-1, keepdim=True))
        return bent.mT @ self.x / self.x.shape[1]

    def diagonal(self, p: Tensor) -> Tensor:
        """Diagonal of the loss's Hessian (R, K, d + 1): close to all of it, in the eigenbasis."""
        spread, number = self.spread(p), self.x.shape[1]
        total = self.x.new_zeros(len(spread), spread.shape[-1], self.x.shape[-1])
        for start in range(0, number, BLOCK):
            rows = slice(start, start + BLOCK)
            squares = self.squares if number <= BLOCK else self.x[:, rows].square()
            total += spread[:, rows].mT @ squares
        return total / number

    @cached_property
    def squares(self) -> Tensor:
        """Of ``x``, kept where one block holds them: making them takes four products' time."""
        return self.x.square()

    def spread(self, p: Tensor) -> Tensor:
        """``p (1 - p)`` (R, N, K): what a sample's own score bends the loss."""
        own = p * (1 - p)
        return own if self.counted is None else own * self.counted


class Optimum(NamedTuple):
    """Where the solver ended; all but the parameters (R,)."""

    parameters: Tensor  #: (R, K, d + 1), intercept last
    objective: Tensor
    gap: Tensor  #: estimated distance to the smallest objective, relative
    gradient: Tensor  #: Euclidean norm of the objective's gradient
    steps: Tensor
    converged: Tensor


def solve(
    problem: Problem, penalty: float, start: Tensor, *, tolerance: float = TOLERANCE
) -> Optimum:
    """Minimise every problem at one penalty, from ``start`` (R, K, d + 1), by Newton steps."""
    ridge = torch.full_like(problem.x[0, 0], penalty)
    ridge[-1] = 0  # the intercept is free
    theta = start.clone()
    none = theta.new_zeros(len(theta))
    found = Optimum(theta, none.clone(), none.clone(), none, none.long(), none.bool())
    running = torch.arange(len(theta), device=theta.device)
    own, live = problem, theta
    z = own.x @ live.mT
    value = own.loss(z) + _bent(ridge, live)
    for step in range(1, NEWTON_STEPS + 1):
        p = own.probabilities(z)
        slope = own.gradient(p) + ridge * live
        diagonal = own.diagonal(p) + ridge
        direction = _conjugate_gradients(own, p, ridge, slope, diagonal)
        decrease = -(slope * direction).sum((1, 2))
        gap = decrease / (2 * value)
        moved = own.x @ direction.mT  # scores are linear: no product in the line search
        length, value = _line_search(own, (z, moved), (live, direction), ridge, value, decrease)
        live, z = live + _wide(length) * direction, z + _wide(length) * moved
        arrived = gap <= tolerance
        ends = arrived | (length == 0)
        if step == NEWTON_STEPS:
            ends = torch.ones_like(ends)
        if ends.any():
            at = running[ends]
            theta[at], found.converged[at], found.steps[at] = live[ends], arrived[ends], step
            found.objective[at], found.gap[at] = value[ends], gap[ends]
            if ends.all():
                break
            running, live, z, value = running[~ends], live[~ends], z[~ends], value[~ends]
            own = own.of(~ends)
    slope = problem.gradient(problem.probabilities(problem.x @ theta.mT)) + ridge * theta
    return found._replace(gradient=slope.flatten(1).norm(dim=1))


def _wide(each: Tensor) -> Tensor:
    """(R,) shaped to multiply (R, ., .)."""
    return each[:, None, None]


def _bent(ridge: Tensor, theta: Tensor) -> Tensor:
    """(R,) what the penalty adds to the loss."""
    return (ridge * theta.square()).sum((1, 2)) / 2


def _conjugate_gradients(
    problem: Problem, p: Tensor, ridge: Tensor, slope: Tensor, diagonal: Tensor
) -> Tensor:
    """Solve Hessian times direction = -slope, as far as a Newton step is worth it."""
    # a class that no sample can have any more, or one that all have, bends nothing
    inverse = 1 / diagonal.clamp_min(torch.finfo(diagonal.dtype).eps)
    direction = torch.zeros_like(slope)
    residual = -slope
    scaled = inverse * residual
    along = scaled
    size = first = (residual * scaled).sum((1, 2))
    wanted = first * FORCING
    for _ in range(CG_STEPS):
        going = size > wanted
        if not going.any():
            break
        bent = problem.curvature(p, along) + ridge * along
        length = _wide(torch.where(going, size / (along * bent).sum((1, 2)), 0.0))
        direction = direction + length * along
        residual = residual - length * bent
        scaled = inverse * residual
        size, before = torch.where(going, (residual * scaled).sum((1, 2)), size), size
        along = torch.where(_wide(going), scaled + _wide(size / before) * along, along)
    return direction


def _line_search(
    problem: Problem,
    scores: tuple[Tensor, Tensor],
    parameters: tuple[Tensor, Tensor],
    ridge: Tensor,
    value: Tensor,
    decrease: Tensor,
) -> tuple[Tensor, Tensor]:
    """Halve each step until it brings enough; returns lengths (0: none does) and values, (R,)."""
    length, best = torch.ones_like(value), value
    taken = torch.zeros_like(value, dtype=torch.bool)
    rounding = 8 * torch.finfo(value.dtype).eps * value.abs()
    while True:
        theta = parameters[0] + _wide(length) * parameters[1]
        tried = problem.loss(scores[0] + _wide(length) * scores[1]) + _bent(ridge, theta)
        enough = tried <= value - SUFFICIENT * length * decrease + rounding
        best = torch.where(enough & ~taken, tried, best)
        taken = taken | enough
        length = torch.where(taken, length, length / 2)
        lost = ~taken & (length <= 1e-6)
        if (taken | lost).all():
            return torch.where(taken, length, 0.0), best


@dataclass(frozen=True)
class Coordinates:
    """Features (R, N, width) to the solver's (R, N, d) and back: ``(x - mean) / scale @ basis``."""

    mean: Tensor  #: (R, 1, width)
    scale: Tensor  #: (R, 1, width)
    basis: Tensor  #: (R, width, d), orthonormal columns

    def back(self, parameters: Tensor) -> tuple[Tensor, Tensor]:
        """Weight (R, K, width) and bias (R, K) on the features as they came."""
        weight = parameters[..., :-1] @ self.basis.mT / self.scale
        return weight, parameters[..., -1] - (weight * self.mean).sum(-1)


def change_coordinates(features: Tensor, *, standardise: bool) -> tuple[Tensor, Coordinates]:
    """Centre, scale and turn features (R, N, width); the problem's optimum is the same.

    Returns ``x`` (R, N, d + 1): coordinates in the eigenbasis of the covariance, last column 1; d =
    min(N, width). Returns ``coordinates``: the way back.
    """
    mean = features.mean(1, keepdim=True)
    centred = features - mean  # the features are the caller's; from here on in place
    scale = torch.ones_like(mean)
    if standardise:
        deviation = centred.square().mean(1, keepdim=True).sqrt()
        # a feature that is constant up to rounding tells nothing: leave it as it is
        constant = deviation <= 10 * torch.finfo(mean.dtype).eps * mean.abs()
        scale = torch.where(constant, scale, deviation)
        centred /= scale
    basis = None
    samples, width = features.shape[1:]
    if samples < width:
        basis, upper = torch.linalg.qr(centred.mT)  # (R, width, N), (R, N, N)
        centred = upper.mT.contiguous()
    _, turn = torch.linalg.eigh(centred.mT @ centred / samples)
    basis = turn if basis is None else basis @ turn
    x = torch.cat([centred @ turn, torch.ones_like(centred[..., :1])], -1)
    return x, Coordinates(mean, scale, basis)


@dataclass(frozen=True)
class Heads:
    """Trained heads, one a replicate: scores are ``features @ weight.mT + bias``.

    ``weight`` (R, K, width). ``bias`` (R, K). ``penalty`` (R,): of the objective at the top of this
    file. ``objective`` (R,): its smallest value. ``gradient`` (R,): Euclidean norm of its gradient
    there, in the solver's coordinates. ``steps`` (R,): Newton steps in the final precision.
    """

    weight: Tensor
    bias: Tensor
    penalty: Tensor
    objective: Tensor
    gradient: Tensor
    steps: Tensor

    def scores(self, features: Tensor) -> Tensor:
        """(R, N, K), on the device of ``features`` and in the precision of the heads."""
        weight, bias = self.weight.to(features.device), self.bias.to(features.device)
        return features.to(weight.dtype) @ weight.mT + bias[:, None]

    def loss(self, features: Tensor, labels: Tensor) -> Tensor:
        """(R,) mean cross-entropy of labels as in :func:`fit_path`, of those that count."""
        scores = self.scores(features)
        if labels.dim() == 3:
            each = functional.softplus(scores) - scores * (labels > 0)
            return _mean_counted(each, labels)
        own = scores.gather(-1, labels[..., None]).squeeze(-1)
        return (scores.logsumexp(-1) - own).mean(-1)

    def accuracy(self, features: Tensor, labels: Tensor) -> Tensor:
        """(R,) share of the samples (R, N) whose highest score is their class.

        Of several labels a sample, (R, N, K): share of those that count whose score has their sign.
        """
        scores = self.scores(features)
        if labels.dim() == 3:
            return _mean_counted((scores > 0) == (labels > 0), labels)
        return (scores.argmax(-1) == labels).double().mean(-1)


def _mean_counted(each: Tensor, labels: Tensor) -> Tensor:
    """(R,) mean over the labels (R, N, K) that count."""
    counted = labels >= 0
    return (each * counted).double().sum((1, 2)) / counted.sum((1, 2)).clamp_min(1)


def fit_path(
    features: Tensor,
    labels: Tensor,
    classes: int,
    penalties: Sequence[float],
    *,
    standardise: bool = True,
    precision: Literal["float64", "float32"] = "float64",
    tolerance: float = TOLERANCE,
) -> list[Heads]:
    """Fit heads at each penalty, each from the optimum of the one before.

    ``features`` (R, N, width): frozen; the heads are solved on their device. ``labels`` int64
    (R, N) or (R, N, classes): class of each sample; or, of several labels, 1 yes, 0 no, -1 not
    counted. ``penalties``: positive; fastest from the largest to the smallest. ``standardise``:
    divide each feature by its standard deviation over these samples. ``precision``: of the solver;
    ``float32`` for large problems on a GPU, with a ``tolerance`` of at least 1e-5. ``tolerance``:
    relative distance to the smallest objective at which to stop. Raises ValueError if a penalty is
    not positive, labels do not fit, or features are not finite; NotConvergedError if the solver
    stops before it is at the optimum.
    """
    _check(features, labels, classes, penalties)
    dtype = getattr(torch, precision)
    x, coordinates = change_coordinates(features.to(dtype), standardise=standardise)
    if len(x) == classes == 1:
        # products with one vector take half the time where each coordinate lies together
        x = x.mT.contiguous().mT
    problem = _problem(x, labels.to(x.device), classes)
    theta = x.new_zeros(len(x), classes, x.shape[-1])
    theta[..., -1] = _log_odds(problem)
    rough = None if precision == "float32" else problem.in_float32()
    fitted = []
    for penalty in penalties:
        if rough is not None:  # most of the way in half the bytes; how far it came does not matter
            way = solve(rough, penalty, theta.float(), tolerance=ROUGH).parameters
            finite = _wide(way.isfinite().flatten(1).all(1))
            theta = torch.where(finite, way.to(dtype), theta)
        optimum = solve(problem, penalty, theta, tolerance=tolerance)
        _refuse_unfinished(optimum, penalty, tolerance)
        theta = optimum.parameters
        weight, bias = coordinates.back(theta)
        each = torch.full_like(optimum.objective, penalty)
        fitted.append(Heads(weight, bias, each, optimum.objective, optimum.gradient, optimum.steps))
    return fitted


def _refuse_unfinished(optimum: Optimum, penalty: float, tolerance: float) -> None:
    for replicate in torch.nonzero(~optimum.converged).flatten().tolist():
        raise NotConvergedError(
            f"head of replicate {replicate} at penalty {penalty:g}: after "
            f"{int(optimum.steps[replicate])} steps the objective is still "
            f"{float(optimum.gap[replicate]):.1e} (relative) above its minimum, expected "
            f"{tolerance:g}; a larger penalty, standardised features or float64 help"
        )


def _check(features: Tensor, labels: Tensor, classes: int, penalties: Sequence[float]) -> None:
    if not len(penalties) or min(penalties) <= 0:
        raise ValueError(f"penalties: expected positive numbers, got {list(penalties)}")
    if features.dim() != 3 or not features.shape[1]:
        raise ValueError(
            f"features: expected (replicates, samples, width), got {tuple(features.shape)}"
        )
    if not features.isfinite().all():
        raise ValueError("features: expected finite numbers")
    each = tuple(features.shape[:2])
    wanted = (each, (*each, classes))
    if tuple(labels.shape) not in wanted:
        raise ValueError(f"labels: expected a shape of {list(wanted)}, got {tuple(labels.shape)}")
    low, high = (0, classes - 1) if labels.dim() == 2 else (-1, 1)
    if labels.min() < low or labels.max() > high:
        raise ValueError(
            f"labels: expected integers from {low} to {high}, "
            f"got {int(labels.min())} to {int(labels.max())}"
        )


def _problem(x: Tensor, labels: Tensor, classes: int) -> Problem:
    if labels.dim() == 2:
        return Problem(x, functional.one_hot(labels, classes).to(x.dtype), None, several=False)
    counted = None if (labels >= 0).all() else (labels >= 0).to(x.dtype)
    return Problem(x, (labels > 0).to(x.dtype), counted, several=True)


def _log_odds(problem: Problem) -> Tensor:
    """Intercepts (R, K) of the frequencies: the optimum at an infinite penalty."""
    share = (problem.y.sum(1) + 0.5) / (problem.y.shape[1] + 1)
    return share.logit() if problem.several else share.log()


@dataclass(frozen=True)
class Chosen:
    """Heads at the penalties that did best on validation data, and both accuracies, (R,)."""

    heads: Heads
    train_accuracy: Tensor
    validation_accuracy: Tensor


def choose(
    training: tuple[Tensor, Tensor],
    validation: tuple[Tensor, Tensor],
    classes: int,
    penalties: Sequence[float] = PENALTIES,
    *,
    tolerance: float = TOLERANCE,
) -> Chosen:
    """Fit the path of penalties; each replicate keeps the one that is best on its validation data.

    The best has the smallest cross-entropy: accuracies tie. ``training``, ``validation``: features
    (R, N, width) and labels (R, N); standardised by the training set.
    """
    path = fit_path(*training, classes, sorted(penalties, reverse=True), tolerance=tolerance)
    best = torch.stack([heads.loss(*validation) for heads in path]).argmin(0)  # of (penalties, R)
    replicates = torch.arange(len(best), device=best.device)
    heads = Heads(
        **{
            name: torch.stack([getattr(heads, name) for heads in path])[best, replicates]
            for name in Heads.__dataclass_fields__
        }
    )
    return Chosen(heads, heads.accuracy(*training), heads.accuracy(*validation))


@dataclass(frozen=True)
class Regression:
    """Fitted ridge regressions, one a replicate: ``features @ weight + bias``.

    ``weight`` (R, width). ``bias``, ``penalty`` (R,): minimisers of ``mean_n (y_n - y(x_n))^2 +
    penalty |W|^2``, ``W`` on standardised features.
    """

    weight: Tensor
    bias: Tensor
    penalty: Tensor

    def predict(self, features: Tensor) -> Tensor:
        """(R, N), in the precision of the fit."""
        own = features.to(self.weight.dtype)
        return (own @ self.weight[..., None]).squeeze(-1) + self.bias[:, None]

    def nmse(self, features: Tensor, y: Tensor) -> Tensor:
        """(R,) mean squared error over the mean square of ``y`` (R, N)."""
        return (self.predict(features) - y).square().mean(-1) / y.double().square().mean(-1)


def regress(
    training: tuple[Tensor, Tensor],
    validation: tuple[Tensor, Tensor],
    penalties: Sequence[float] = PENALTIES,
) -> Regression:
    """Ridge regression of (R, N, width) on (R, N); the penalty by the error on validation data."""
    features, y = (tensor.double() for tensor in training)
    if not len(penalties) or min(penalties) <= 0:
        raise ValueError(f"penalties: expected positive numbers, got {list(penalties)}")
    x, coordinates = change_coordinates(features, standardise=True)
    x, mean = x[..., :-1], y.mean(1)
    # in the eigenbasis of the covariance every coordinate is a regression of its own
    cross = torch.einsum("rnd,rn->rd", x, y - mean[:, None]) / x.shape[1]
    tried = torch.tensor(penalties, dtype=x.dtype, device=x.device)
    path = cross[:, None] / (x.square().mean(1)[:, None] + tried[:, None])  # (R, penalties, d)
    centred = mean[:, None, None].expand(-1, len(tried), 1)
    weights, biases = coordinates.back(torch.cat([path, centred], -1))
    seen, wanted = (tensor.double() for tensor in validation)
    guesses = seen @ weights.mT + biases[:, None]
    best = (guesses - wanted[..., None]).square().mean(1).argmin(1)
    own = torch.arange(len(best), device=best.device)
    return Regression(weights[own, best], biases[own, best], tried[best])
