"""Linear probes on a frozen encoder (Definition 3.1, Corollaries 3.3 and 3.5).

Regression by ridge, classification by logistic regression, features scaled to mean square 1; no
intercept, as labels are symmetric.
All computations in float64; replicates one after the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from featlearn.core.errors import FeatlearnError

#: Ridge penalties, as shares of the mean squared feature; the best on a validation split is taken.
PENALTIES = (1e-4, 1e-3, 1e-2, 1e-1, 1.0)
#: L2 penalty of the logistic regression.
LOGISTIC_PENALTY = 1e-3
#: Largest entry of its gradient at the optimum, and the most steps that may be taken to it.
TOLERANCE, NEWTON_STEPS = 1e-8, 50
VALIDATION_SHARE = 0.2


class Probe(NamedTuple):
    """``nmse`` (R,): mean squared error over mean square of y; ``accuracy`` (R,) where y != 0.

    On fresh samples, and on those that the probe was fitted to.
    """

    nmse: Tensor
    accuracy: Tensor
    train_nmse: Tensor
    train_accuracy: Tensor


class Task(NamedTuple):
    """Features (R, n, m) and responses (R, n) for training and for testing."""

    train: Tensor
    y_train: Tensor
    test: Tensor
    y_test: Tensor


def probe(task: Task) -> Probe:
    """Fit both probes and test them; a replicate without any feature predicts nothing.

    The accuracy leaves out samples with ``y = 0``, whose sign is undefined. A prediction of 0, of a
    sample on which no neuron fires, counts as half right: that of a fair coin. Where all features
    are zero (all neurons dead) the NMSE is 1 and the accuracy 1/2.
    """
    found = []
    for rows in zip(*task, strict=True):
        train, y_train, test, y_test = (tensor.double() for tensor in rows)
        scale = train.square().mean(0).sqrt()
        if not bool(scale.any()):
            found.append((1.0, 0.5, 1.0, 0.5))
            continue
        scale = torch.where(scale > 0, scale, 1.0)
        train, test = _in_span(train / scale, test / scale)
        w = ridge(train, y_train, PENALTIES)
        known = y_train != 0
        v = logistic(train[known], y_train[known].sign())
        found.append((*_told(test, y_test, w, v), *_told(train, y_train, w, v)))
    return Probe(*torch.tensor(found, dtype=torch.float64).T)


def _told(x: Tensor, y: Tensor, w: Tensor, v: Tensor) -> tuple[float, float]:
    """NMSE of the regression weights ``w`` and accuracy of the class weights ``v``."""
    asked = y != 0
    agreement = (x[asked] @ v).sign() * y[asked].sign()
    nmse = (x @ w - y).square().mean() / y.square().mean()
    return float(nmse), float((1 + agreement).mean() / 2)


def _in_span(train: Tensor, test: Tensor) -> tuple[Tensor, Tensor]:
    """With more features than samples, coordinates in the span of the training samples.

    Both fits have an L2 penalty, so that their weights lie in it: nothing is lost.
    """
    if train.shape[1] <= train.shape[0]:
        return train, test
    basis, _ = torch.linalg.qr(train.T)
    return train @ basis, test @ basis


def ridge(x: Tensor, y: Tensor, penalties: Sequence[float]) -> Tensor:
    """Ridge weights (m,); the penalty is chosen on the last part of the training samples."""
    cut = int(len(x) * (1 - VALIDATION_SHARE))
    first, rest = x[:cut], x[cut:]
    gram_first, cross_first = first.T @ first, first.T @ y[:cut]
    errors = [
        float((rest @ _solve(gram_first, cross_first, cut * penalty) - y[cut:]).square().mean())
        for penalty in penalties
    ]
    best = penalties[errors.index(min(errors))]
    gram, cross = gram_first + rest.T @ rest, cross_first + rest.T @ y[cut:]
    return _solve(gram, cross, len(x) * best)


def _solve(gram: Tensor, cross: Tensor, penalty: float) -> Tensor:
    identity = torch.eye(len(gram), dtype=gram.dtype, device=gram.device)
    return torch.linalg.solve(gram + penalty * identity, cross)


def logistic(x: Tensor, sign: Tensor) -> Tensor:
    """Weights (m,) of least mean ``log(1 + exp(-sign <w, x>))`` plus an L2 term, by Newton.

    Raises
    ------
    FeatlearnError
        If the largest entry of the gradient is above :data:`TOLERANCE` after
        :data:`NEWTON_STEPS`.
    """
    w = torch.zeros(x.shape[1], dtype=x.dtype, device=x.device)
    identity = LOGISTIC_PENALTY * torch.eye(len(w), dtype=x.dtype, device=x.device)
    for _ in range(NEWTON_STEPS):
        chance = torch.sigmoid(-sign * (x @ w))
        slope = LOGISTIC_PENALTY * w - x.T @ (sign * chance) / len(x)
        if float(slope.abs().amax()) <= TOLERANCE:
            return w
        weight = (chance * (1 - chance)).clamp_min(1e-9)
        curvature = (x * weight.unsqueeze(1)).T @ x / len(x) + identity
        w = w - torch.linalg.solve(curvature, slope)
    raise FeatlearnError(
        f"probe: no optimum of the logistic regression within {NEWTON_STEPS} Newton steps"
    )
