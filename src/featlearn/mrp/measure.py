"""What is read off a trained network (section 5 of the paper's claims, in numbers)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pandas as pd
import torch
from torch import Tensor

from featlearn.mrp.data import Samples
from featlearn.mrp.gradients import encode_in_blocks
from featlearn.mrp.model import Activation, class_scores
from featlearn.mrp.train import Trace, correlations


@dataclass(frozen=True)
class Prediction:
    """Scores of a classifier on samples: ``scores`` (R, N, k), ``y`` (R, N), ``strong`` (R, N)."""

    scores: Tensor
    y: Tensor
    strong: Tensor

    def accuracy(self) -> Tensor:
        """(R,) share of samples whose highest score is their class."""
        return (self.scores.argmax(-1) == self.y).double().mean(-1)

    def accuracy_on(self, view: int) -> Tensor:
        """(R,) accuracy on the single-view samples in which feature ``view`` is the strong one."""
        chosen = self.strong == view
        right = (self.scores.argmax(-1) == self.y) & chosen
        return right.double().sum(-1) / chosen.double().sum(-1)

    def margin(self) -> Tensor:
        """(R, N) score of the own class minus the best other one."""
        own = self.scores.gather(-1, self.y.unsqueeze(-1))
        others = self.scores.scatter(-1, self.y.unsqueeze(-1), float("-inf"))
        return (own.squeeze(-1) - others.amax(-1)).double()


def predict(samples: Samples, w: Tensor, u: Tensor, activation: Activation) -> Prediction:
    """Run a classifier (kernels (R, K, d), head (R, k, K)) over samples."""
    h = encode_in_blocks(samples.x, w, activation)
    return Prediction(class_scores(h, u), samples.y, samples.strong)


@dataclass(frozen=True)
class Capture:
    """Which kernel holds which feature.

    A feature is *captured* when a kernel's correlation with it reaches ``varrho``; such a kernel is
    a *winner*, and an *impure* one if it holds more than one feature.

    Parameters
    ----------
    correlation : (R, K, k, L)
        ``<w_r, v_{i,l}>``.
    varrho
        Threshold of the activation.
    by_class
        Count only the kernels of a feature's own class (the supervised network with a fixed head,
        in which a class cannot use the kernels of another).
    """

    correlation: Tensor
    varrho: float
    by_class: bool = False

    def strength(self) -> Tensor:
        """``Lambda_{i,l}`` (R, k, L): the largest positive correlation of an eligible kernel."""
        if not self.by_class:
            return self.correlation.amax(1).clamp_min(0)
        replicates, kernels, classes, views = self.correlation.shape
        blocks = self.correlation.view(replicates, classes, kernels // classes, classes, views)
        own = torch.arange(classes, device=blocks.device)
        return blocks[:, own, :, own].permute(1, 0, 2, 3).amax(2).clamp_min(0)

    def captured(self) -> Tensor:
        """(R, k, L) bool."""
        return self.strength() >= self.varrho

    def held(self) -> Tensor:
        """(R, K) number of features that each kernel holds."""
        return (self.correlation >= self.varrho).flatten(2).sum(-1)

    def largest_off_diagonal(self) -> Tensor:
        """(R,) the largest |correlation| of a winner with a feature that is not its strongest."""
        size = self.correlation.abs().flatten(2)
        best = size.amax(-1, keepdim=True)
        winner = self.held() > 0
        # the strongest is put at -1, below any |correlation|, so the maximum is over the others
        others = torch.where(size == best, -1.0, size).amax(-1)
        return torch.where(winner, others, 0.0).amax(-1).clamp_min(0)


def capture(
    w: Tensor, features: Tensor, activation: Activation, *, by_class: bool = False
) -> Capture:
    """Correlations of kernels (R, K, d) with features (R, k, L, d), ready to be counted."""
    return Capture(correlations(w, features), activation.varrho, by_class)


# --------------------------------------------------------------------------- tidy frames

#: Columns of ``evaluation.parquet``: one row a model, replicate and quantity.
EVALUATION_COLUMNS = ("model", "replicate", "quantity", "value")
#: Columns of ``features.parquet``: ``Lambda`` of one feature (class and view count from 0).
FEATURE_COLUMNS = ("model", "replicate", "class", "view", "strength", "captured")

EvaluationRow = tuple[str, int, str, float]


def replicate_rows(model: str, quantities: Mapping[str, Tensor]) -> Iterator[EvaluationRow]:
    """One row a replicate for each quantity (R,)."""
    for quantity, values in quantities.items():
        for replicate, value in enumerate(values.tolist()):
            yield model, replicate, quantity, float(value)


def prediction_rows(model: str, seen: Mapping[str, Prediction]) -> Iterator[EvaluationRow]:
    """Accuracies and margins of one model; ``seen`` maps ``multi_view``, ``single_view``."""
    for kind, prediction in seen.items():
        margin = prediction.margin()
        yield from replicate_rows(
            model,
            {
                f"accuracy_{kind}": prediction.accuracy(),
                f"margin_{kind}_median": margin.quantile(0.5, dim=-1),
                f"margin_{kind}_q05": margin.quantile(0.05, dim=-1),
            },
        )
        views = sorted(set(prediction.strong.flatten().tolist()) - {-1})
        yield from replicate_rows(
            model,
            {f"accuracy_{kind}_{view + 1}": prediction.accuracy_on(view) for view in views},
        )


def capture_rows(model: str, held: Capture) -> Iterator[EvaluationRow]:
    """What the kernels of one model hold."""
    return replicate_rows(
        model,
        {
            "captured": held.captured().flatten(1).double().mean(-1),
            "weakest_feature": held.strength().flatten(1).amin(-1),
            "winners": (held.held() > 0).sum(-1),
            "impure_winners": (held.held() > 1).sum(-1),
            "largest_off_diagonal": held.largest_off_diagonal(),
        },
    )


def feature_rows(model: str, held: Capture) -> Iterator[tuple[str, int, int, int, float, bool]]:
    """``Lambda`` of each feature, with the columns of :data:`FEATURE_COLUMNS`."""
    strength, captured = held.strength().tolist(), held.captured().tolist()
    for replicate, classes in enumerate(strength):
        for cls, views in enumerate(classes):
            for view, value in enumerate(views):
                yield model, replicate, cls, view, value, captured[replicate][cls][view]


def strength_history(trace: Trace) -> pd.DataFrame:
    """``Lambda`` over time: columns step, replicate, class, view, strength."""
    strength = trace.stacked("strength")
    _, replicates, classes, views = strength.shape
    index = pd.MultiIndex.from_product(
        [trace.steps, range(replicates), range(classes), range(views)],
        names=["step", "replicate", "class", "view"],
    )
    frame = pd.DataFrame({"strength": strength.flatten().numpy()}, index=index)
    return frame.reset_index()


def learning_history(trace: Trace) -> pd.DataFrame:
    """Training loss and accuracy over time: columns step, replicate, loss, accuracy."""
    return _history(trace, {name: trace.stacked(name) for name in ("loss", "accuracy")})


def finetuning_history(trace: Trace) -> pd.DataFrame:
    """The same with ``wrong_mass``, the mean of ``1 - logit_y``, and ``Lambda`` over the features.

    Columns step, replicate, loss, accuracy, wrong_mass, weakest_feature, median_feature.
    """
    strength = trace.stacked("strength").flatten(2)
    seen = {name: trace.stacked(name) for name in ("loss", "accuracy", "wrong_mass")}
    seen["weakest_feature"] = strength.amin(-1)
    seen["median_feature"] = strength.quantile(0.5, dim=-1)
    return _history(trace, seen)


def _history(trace: Trace, seen: Mapping[str, Tensor]) -> pd.DataFrame:
    """Tensors (steps, R) as columns beside step and replicate."""
    replicates = next(iter(seen.values())).shape[1]
    index = pd.MultiIndex.from_product(
        [trace.steps, range(replicates)], names=["step", "replicate"]
    )
    columns = {name: values.flatten().numpy() for name, values in seen.items()}
    return pd.DataFrame(columns, index=index).reset_index()
