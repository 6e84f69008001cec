"""What labels make of an encoder: new heads, trained to their optimum, beside networks as trained.

Kept apart from the trainings: none has to be repeated for what is measured on it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from featlearn.core.heads import Chosen, choose
from featlearn.mrp.classify import Task
from featlearn.mrp.data import Samples
from featlearn.mrp.gradients import encode_in_blocks
from featlearn.mrp.measure import (
    EvaluationRow,
    Prediction,
    predict,
    prediction_rows,
    replicate_rows,
)
from featlearn.mrp.model import Activation

#: Penalties that are tried; with a smaller one heads on separable data hardly change.
PENALTIES = tuple(10.0**-power for power in range(6))

#: What a head is put on: (R, N, width) of samples.
Encode = Callable[[Samples], Tensor]


def raw(samples: Samples) -> Tensor:
    """What a linear classifier sees of the input: the sum of the patches (R, N, d)."""
    return samples.x.sum(2)


def encoder(w: Tensor, activation: Activation) -> Encode:
    """The encoder with kernels ``w`` (R, K, d)."""
    return lambda samples: encode_in_blocks(samples.x, w, activation)


def new_heads(encode: Encode, train: Samples, validation: Samples, classes: int) -> Chosen:
    """Converged linear heads on what ``encode`` makes of the samples, one a replicate."""
    training, chosen_on = ((encode(one), one.y) for one in (train, validation))
    return choose(training, chosen_on, classes, PENALTIES)


def network_rows(model: str, task: Task, w: Tensor, u: Tensor) -> Iterator[EvaluationRow]:
    """Accuracies and margins of a network as it was trained, on training and fresh samples."""
    right = predict(task.train, w, u, task.activation).accuracy()
    yield from replicate_rows(model, {"train_accuracy": right})
    yield from _fresh(model, task, lambda one: predict(one, w, u, task.activation))


def head_rows(model: str, task: Task, on: Tensor | Encode) -> Iterator[EvaluationRow]:
    """The same of a new head, trained to its optimum, with how that went.

    ``on``: kernels (R, K, d), or what else makes features of samples.
    """
    encode = encoder(on, task.activation) if isinstance(on, Tensor) else on
    found = new_heads(encode, task.train, task.validation, task.classes)
    yield from replicate_rows(
        model,
        {
            "train_accuracy": found.train_accuracy,
            "validation_accuracy": found.validation_accuracy,
            "penalty": found.heads.penalty,
            "gradient": found.heads.gradient,
        },
    )
    yield from _fresh(
        model, task, lambda one: Prediction(found.heads.scores(encode(one)), one.y, one.strong)
    )


def majority_rows(task: Task) -> Iterator[EvaluationRow]:
    """Always the class that is most frequent among the training labels."""
    counts = torch.nn.functional.one_hot(task.train.y, task.classes).sum(1).double()
    yield from replicate_rows("majority", {"train_accuracy": counts.amax(1) / counts.sum(1)})
    yield from _fresh(
        "majority",
        task,
        lambda one: Prediction(counts[:, None].expand(*one.y.shape, -1), one.y, one.strong),
    )


def _fresh(
    model: str, task: Task, predicted: Callable[[Samples], Prediction]
) -> Iterator[EvaluationRow]:
    tests = {"multi_view": task.multi_view, "single_view": task.single_view}
    return prediction_rows(model, {kind: predicted(one) for kind, one in tests.items()})
