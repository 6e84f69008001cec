"""Methods with fixed features that the networks of chapter 3 are held against, solved exactly.

Kernel ridge regression on the labels is the closed form of each: of the RBF kernel, of random
features (the network's own start), and of the neural tangent kernel of that start::

    K(x, x') = sum_i [ relu_i(x) relu_i(x') + a_i^2 1_i(x) 1_i(x') <x, x'> ]

Penalty and bandwidth are chosen on validation data.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from featlearn.core.heads import choose
from featlearn.gradient_features.law import Sample
from featlearn.gradient_features.model import Network

#: Of inputs (n, d) and (p, d): (n, p).
Kernel = Callable[[Tensor, Tensor], Tensor]
#: Penalties over the mean of the kernel's diagonal, one power of ten apart.
PENALTIES = tuple(10.0**-power for power in range(5))
#: Squared bandwidths of the RBF kernel over the mean squared distance of two inputs.
BANDWIDTHS = (0.3, 1.0, 3.0)
#: Of the linear classifier.
LINEAR_PENALTIES = (1.0, 0.1, 0.01, 0.001)


class Data(NamedTuple):
    """Inputs and labels of one replicate."""

    x: Tensor  #: (n, d)
    y: Tensor  #: (n,)


class Score(NamedTuple):
    """Accuracies, or another score, of what validation chose."""

    train: float
    validation: float
    test: float


def random_features(network: Network) -> Kernel:
    """Of a start of one replicate; its copies count once more each, which changes no prediction."""

    def kernel(x: Tensor, other: Tensor) -> Tensor:
        return network.features(x[None])[0] @ network.features(other[None])[0].mT

    return kernel


def tangent(network: Network) -> Kernel:
    """Neural tangent kernel of a start of one replicate."""
    features = random_features(network)

    def active(x: Tensor) -> Tensor:
        return (x @ network.w[0].mT > network.b[0]).to(x.dtype)

    def kernel(x: Tensor, other: Tensor) -> Tensor:
        by_w = (active(x) * network.a[0].square()) @ active(other).mT
        return features(x, other) + by_w * (x @ other.mT)

    return kernel


def rbf(square: float) -> Kernel:
    """exp(-|x - x'|^2 / (2 square))."""
    return lambda x, other: torch.exp(-torch.cdist(x, other).square() / (2 * square))


def rbf_kernels(x: Tensor) -> list[Kernel]:
    """Of all bandwidths, in units of the inputs' own distances."""
    square = 2 * x.var(0).sum().item()
    return [rbf(part * square) for part in BANDWIDTHS]


def linear_kernel(x: Tensor, other: Tensor) -> Tensor:
    """1 + <x, x'>, over the dimension."""
    return (1 + x @ other.mT) / x.shape[1]


def quadratic_kernel(x: Tensor, other: Tensor) -> Tensor:
    """All polynomials of degree 2: the square of the linear kernel."""
    return linear_kernel(x, other).square()


def accuracy(found: Tensor, y: Tensor) -> float:
    """Share of the inputs on which the sign is right."""
    return (found.sign() == y).double().mean().item()


def error_share(found: Tensor, y: Tensor) -> float:
    """Mean squared error over the mean square of the labels."""
    return ((found - y).square().mean() / y.square().mean()).item()


def ridge(
    kernels: Sequence[Kernel],
    training: Data,
    validation: Data,
    test: Data,
    *,
    score: Callable[[Tensor, Tensor], float] = accuracy,
) -> Score:
    """Kernel ridge regression of the labels; the best kernel and penalty by validation error.

    The error is the mean square, which the regression minimises: accuracies tie.
    """
    best, chosen = float("inf"), Score(0.0, 0.0, 0.0)
    eye = torch.eye(len(training.y), dtype=training.x.dtype)
    for kernel in kernels:
        gram = kernel(training.x, training.x)
        across = [gram, *(kernel(part.x, training.x) for part in (validation, test))]
        scale = gram.diagonal().mean()
        for penalty in PENALTIES:
            factor = torch.linalg.cholesky(gram + penalty * scale * eye)
            dual = torch.cholesky_solve(training.y[:, None], factor)
            found = [(part @ dual).squeeze(1) for part in across]
            error = (found[1] - validation.y).square().mean().item()
            if error < best:
                best = error
                sets = (training, validation, test)
                chosen = Score(*(
                    score(value, part.y) for value, part in zip(found, sets, strict=True)
                ))  # fmt: skip
    return chosen


def linear(sets: Mapping[str, Sample]) -> dict[str, Tensor]:
    """Accuracies (R,) of logistic regression on the inputs, penalty by validation."""
    labels = {part: (inputs.y > 0).long() for part, inputs in sets.items()}
    train, validation = ((sets[part].x, labels[part]) for part in ("train", "validation"))
    chosen = choose(train, validation, 2, LINEAR_PENALTIES)
    return {
        "train": chosen.train_accuracy,
        "validation": chosen.validation_accuracy,
        "test": chosen.heads.accuracy(sets["test"].x, labels["test"]),
    }
