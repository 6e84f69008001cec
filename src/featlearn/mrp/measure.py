"""What is read off trained networks: accuracies under their head or a new one, tidy frames.

A new head is trained to its optimum. Kept apart from the trainings: none has to be repeated for
what is measured on it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import pandas as pd
import torch
from torch import Tensor

from featlearn.core.evidence.baselines import RANDOM, patch_moments
from featlearn.core.evidence.frames import tidy
from featlearn.core.training.heads import Chosen, choose
from featlearn.mrp.data import Problem, Samples
from featlearn.mrp.gradients import encode_in_blocks
from featlearn.mrp.model import Activation, class_scores

#: Penalties that are tried; with a smaller one heads on separable data hardly change.
PENALTIES = tuple(10.0**-power for power in range(6))
#: What a head is put on: (R, N, width) of samples.
Encode = Callable[[Samples], Tensor]


class Prediction(NamedTuple):
    """Scores of a classifier on samples: ``scores`` (R, N, k), ``y`` (R, N), ``strong`` (R, N)."""

    scores: Tensor
    y: Tensor
    strong: Tensor

    def right(self) -> Tensor:
        """(R, N) bool: the highest score is that of the class."""
        return self.scores.argmax(-1) == self.y

    def accuracy(self) -> Tensor:
        """(R,) share of samples that are right."""
        return self.right().double().mean(-1)

    def margin(self) -> Tensor:
        """(R, N) score of the own class minus the best other one."""
        own = self.scores.gather(-1, self.y.unsqueeze(-1))
        others = self.scores.scatter(-1, self.y.unsqueeze(-1), float("-inf"))
        return (own.squeeze(-1) - others.amax(-1)).double()


def share(right: Tensor, chosen: Tensor) -> Tensor:
    """(R,) share of the ``chosen`` samples that are ``right``, both (R, N) bool."""
    return (right & chosen).double().sum(-1) / chosen.double().sum(-1)


def predict(samples: Samples, w: Tensor, u: Tensor, activation: Activation) -> Prediction:
    """Run a classifier (kernels (R, K, d), head (R, k, K)) over samples."""
    h = encode_in_blocks(samples.x, w, activation)
    return Prediction(class_scores(h, u), samples.y, samples.strong)


def predicted(tests: Mapping[str, Samples], scores: Encode) -> dict[str, Prediction]:
    """Of each kind of samples, by their ``scores``."""
    return {kind: Prediction(scores(test), test.y, test.strong) for kind, test in tests.items()}


# Each a number a replicate (R,), by name.


def accuracies(predictions: Mapping[str, Prediction]) -> dict[str, Tensor]:
    """Accuracies and margins on ``multi_view`` and ``single_view`` samples."""
    quantities: dict[str, Tensor] = {}
    for kind, prediction in predictions.items():
        margin = prediction.margin()
        quantities |= {
            f"accuracy_{kind}": prediction.accuracy(),
            f"margin_{kind}_median": margin.quantile(0.5, dim=-1),
            f"margin_{kind}_q05": margin.quantile(0.05, dim=-1),
        }
        for view in sorted(set(prediction.strong.flatten().tolist()) - {-1}):
            chosen = prediction.strong == view
            quantities[f"accuracy_{kind}_{view + 1}"] = share(prediction.right(), chosen)
    return quantities


def network(problem: Problem, w: Tensor, u: Tensor) -> dict[str, Tensor]:
    """A network as it was trained, on training and fresh samples."""
    train = predict(problem.train, w, u, problem.activation).accuracy()
    tests = {k: predict(test, w, u, problem.activation) for k, test in problem.tests.items()}
    return {"train_accuracy": train, **accuracies(tests)}


def encoder(w: Tensor, activation: Activation) -> Encode:
    """The encoder with kernels ``w`` (R, K, d)."""
    return lambda samples: encode_in_blocks(samples.x, w, activation)


def raw(samples: Samples) -> Tensor:
    """What a linear classifier gets of the input: the sum of the patches (R, N, d)."""
    return samples.x.sum(2)


def extremes(samples: Samples) -> Tensor:
    """Largest and smallest value of each coordinate over the patches (R, N, 2 d)."""
    return torch.cat([samples.x.amax(2), samples.x.amin(2)], -1)


def moments(samples: Samples) -> Tensor:
    """Second moments of the patches (R, N, d^2)."""
    return torch.stack([patch_moments(x) for x in samples.x])


def unlearned(problem: Problem) -> dict[str, Encode]:
    """What a head stands on that nobody learned, by model, beside the kernels of the start.

    The members of the shared panel (:mod:`featlearn.core.evidence.baselines`) that do not depend on
    the order of the patches, which is random. Their heads are those of the trained kernels.
    """
    own = problem.spec.classes * problem.config["network"]["kernels_per_class"]
    many = problem.kernels(kernels_per_class=-(-RANDOM // problem.spec.classes))
    parts = torch.split(many, own, 1)

    def random_many(samples: Samples) -> Tensor:
        # as many at a time as the network has: a GPU holds the responses of all
        responses = [encode_in_blocks(samples.x, w, problem.activation) for w in parts]
        return torch.cat(responses, -1)

    return {"raw_linear": raw, "random_many": random_many, "extremes": extremes, "moments": moments}


def new_heads(encode: Encode, train: Samples, validation: Samples, classes: int) -> Chosen:
    """Converged linear heads on what ``encode`` makes of the samples, one a replicate."""
    training, chosen_on = ((encode(one), one.y) for one in (train, validation))
    return choose(training, chosen_on, classes, PENALTIES)


def head(problem: Problem, on: Tensor | Encode) -> dict[str, Tensor]:
    """A new head on kernels (R, K, d), or on what else makes features of samples."""
    encode = encoder(on, problem.activation) if isinstance(on, Tensor) else on
    chosen = new_heads(encode, problem.train, problem.validation, problem.spec.classes)
    tests = predicted(problem.tests, lambda test: chosen.heads.scores(encode(test)))
    return {
        "train_accuracy": chosen.train_accuracy,
        "validation_accuracy": chosen.validation_accuracy,
        "penalty": chosen.heads.penalty,
        "gradient": chosen.heads.gradient,
        **accuracies(tests),
    }


def majority(problem: Problem) -> dict[str, Tensor]:
    """Always the class that is most frequent among the training labels."""
    counts = torch.nn.functional.one_hot(problem.train.y, problem.spec.classes).sum(1).double()
    tests = predicted(problem.tests, lambda test: counts[:, None].expand(*test.y.shape, -1))
    return {"train_accuracy": counts.amax(1) / counts.sum(1), **accuracies(tests)}


def rows(quantities: Mapping[str, Tensor], **labels: Any) -> pd.DataFrame:
    """A row a quantity and replicate, behind columns of the same label in all rows."""
    values = torch.stack([value.double().cpu() for value in quantities.values()])
    frame = tidy({"quantity": list(quantities), "replicate": range(values.shape[1])}, value=values)
    return frame.assign(**labels)[[*labels, "replicate", "quantity", "value"]]


def joined(*frames: pd.DataFrame) -> pd.DataFrame:
    return pd.concat(frames, ignore_index=True)


def history(
    steps: list[int], values: Mapping[str, Tensor], axes: tuple[str, ...] = ()
) -> pd.DataFrame:
    """Tensors (steps, R, ...) over time, in their own precision, beside step and replicate."""
    shape = next(iter(values.values())).shape[1:]
    index = pd.MultiIndex.from_product(
        [steps, *map(range, shape)], names=["step", "replicate", *axes]
    )
    columns = {name: value.flatten().numpy() for name, value in values.items()}
    return pd.DataFrame(columns, index=index).reset_index()
