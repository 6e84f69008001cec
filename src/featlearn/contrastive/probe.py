"""Linear probes on a frozen encoder (Definition 3.1, Corollaries 3.3 and 3.5).

Ridge regression of ``y`` and logistic regression of its sign, each solved to its optimum by
:mod:`featlearn.core.heads` on standardised features, its penalty chosen on the last labels.
"""

from __future__ import annotations

from typing import NamedTuple

from torch import Tensor

from featlearn.core.heads import choose, regress

#: Penalties that are tried, of both heads.
PENALTIES = (1e2, 1e1, 1.0, 1e-1, 1e-2, 1e-3, 1e-4)
#: Share of the labels that chooses the penalty; the others train.
VALIDATION_SHARE = 0.2


class Probe(NamedTuple):
    """``nmse`` (R,): mean squared error over mean square of y; ``accuracy`` (R,) where y != 0.

    On fresh samples, and on those that trained the head.
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
    """Fit both heads and test them; where all features are zero they know the mean alone.

    The classification leaves out samples with ``y = 0``, whose sign is undefined.
    """
    cut = round(task.train.shape[1] * (1 - VALIDATION_SHARE))
    first, last = slice(cut), slice(cut, None)
    (x, y), rest = ((task.train[:, part], task.y_train[:, part]) for part in (first, last))
    line = regress((x, y), rest, PENALTIES)
    chosen = choose((x, classes(y)), (rest[0], classes(rest[1])), 1, PENALTIES)
    accuracy = chosen.heads.accuracy(task.test, classes(task.y_test))
    return Probe(
        line.nmse(task.test, task.y_test), accuracy, line.nmse(x, y), chosen.train_accuracy
    )


def classes(y: Tensor) -> Tensor:
    """Labels (R, n, 1): 1 where ``y > 0``, 0 where ``y < 0``, -1, not counted, where ``y = 0``."""
    return ((y > 0).long() - (y == 0).long()).unsqueeze(-1)
