"""What solves modular addition without learning features: nothing here should.

A linear classifier on the one-hot inputs, and one on the hidden values of the network's own start
(random features), both by ridge regression on the classes, solved exactly. A fifth of the training
inputs chooses the penalty; the fit is then made again on all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from featlearn.fourier.data import labels, tuples
from featlearn.fourier.network import Network, power, rows_of, sums

#: Penalties over the mean eigenvalue of the features' second moment.
PENALTIES = tuple(10.0**-power for power in range(9))
#: Most training inputs that are used.
MOST = 40_000


def heads(start: Network, train: Tensor, test: Tensor) -> Iterator[Mapping[str, Any]]:
    """Accuracies of each method on the inputs of these numbers, which a random order shuffles.
    ``start``: the network before training, R = 1."""
    k, p = start.k, start.p
    a, seen = tuples(train[:MOST], k, p), tuples(test, k, p)
    y, wanted = labels(a, p), labels(seen, p)
    # features (n, d) of inputs (n, k)
    ways: dict[str, Callable[[Tensor], Tensor]] = {
        "linear": lambda a: functional.one_hot(a, p).flatten(1).float(),
        "random features": lambda a: power(sums(start.u, rows_of(a, p, 1))[0], k),
    }
    for method, features in ways.items():
        scores = ridge(features(a), y, p)
        yield {"method": method, "train": _right(scores(features(a)), y),
               "value": _right(scores(features(seen)), wanted)}  # fmt: skip
    most = int(y.bincount(minlength=p).argmax())
    yield {"method": "majority", "train": (y == most).double().mean().item(),
           "value": (wanted == most).double().mean().item()}  # fmt: skip


def _right(scores: Tensor, y: Tensor) -> float:
    return (scores.argmax(1) == y).double().mean().item()


def ridge(x: Tensor, y: Tensor, classes: int) -> Callable[[Tensor], Tensor]:
    """Ridge regression of the classes' indicators on standardised features; gives their scores."""
    mean, std = x.mean(0), x.std(0).clamp_min(1e-12)
    target = functional.one_hot(y, classes).to(x) - 1 / classes

    def standard(features: Tensor) -> Tensor:
        return (features - mean) / std

    own = standard(x)
    held = len(x) // 5
    parts = [(own[held:], target[held:]), (own[:held], target[:held])]
    moments = [(one.mT @ one, one.mT @ other) for one, other in parts]
    tried = _solved(*moments[0])
    best = max(range(len(tried)), key=lambda i: _right(own[:held] @ tried[i], y[:held]))
    both = (first + second for first, second in zip(*moments, strict=True))
    chosen = _solved(*both)[best]
    return lambda features: standard(features) @ chosen


def _solved(gram: Tensor, cross: Tensor) -> list[Tensor]:
    """Weights (d, classes) at each penalty, the largest penalty first."""
    values, basis = torch.linalg.eigh(gram.double())
    turned, scale = basis.mT @ cross.double(), values.clamp_min(0).mean()
    return [(basis @ (turned / (values.clamp_min(0) + penalty * scale)[:, None])).to(cross)
            for penalty in PENALTIES]  # fmt: skip
