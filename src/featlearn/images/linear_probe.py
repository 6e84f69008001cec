"""Linear probe: logistic regression on frozen features of images, solved to its optimum.

The solver is :mod:`featlearn.core.heads`, here for one encoder; with it the choice of the penalty
by accuracy or mean average precision, and a last fit on all labelled images.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import pandas as pd
import torch
from torch import Tensor

from featlearn.core import heads
from featlearn.core.heads import PENALTIES, TOLERANCE


@dataclass(frozen=True)
class LinearProbe:
    """A fitted probe: scores are ``features @ weight.T + bias``.

    Parameters
    ----------
    weight : (K, width)
    bias : (K,)
    penalty
        Of the objective of :mod:`featlearn.core.heads`.
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

    ``features`` (N, width), ``labels`` int64 (N,) or (N, classes): as those of
    :func:`featlearn.core.heads.fit_path`, which says what else is given and raised, without the
    replicate axis.
    """
    fitted = heads.fit_path(
        features[None],
        labels[None],
        classes,
        penalties,
        standardise=standardise,
        precision=precision,
        tolerance=tolerance,
    )
    return [
        LinearProbe(
            one.weight[0],
            one.bias[0],
            float(one.penalty[0]),
            float(one.objective[0]),
            int(one.steps[0]),
        )
        for one in fitted
    ]


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
