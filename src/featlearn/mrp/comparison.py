"""The two kinds of network that a sweep compares, and why single-view samples go wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from featlearn.mrp.classify import Task
from featlearn.mrp.data import Samples
from featlearn.mrp.heads import head_rows, network_rows, raw
from featlearn.mrp.measure import (
    Capture,
    EvaluationRow,
    Prediction,
    capture,
    capture_rows,
    predict,
    replicate_rows,
)
from featlearn.mrp.supervised import fit
from featlearn.mrp.sweep import Batch
from featlearn.mrp.train import MaskedAutoencoder, Pretrained, Report, pretrain


def supervised_rows(
    batch: Batch, options: Mapping[str, Any], report: Report
) -> list[EvaluationRow]:
    """Train the supervised network of Lemma 1 until it fits its labels; measure it, and a new head.

    Parameters
    ----------
    options
        With a group ``supervised``: ``learning_rate_per_class`` (the gradient of a class is a mean
        over all samples, of which it owns one in k), ``tolerance``, ``max_steps``.
    """
    recipe = options["supervised"]
    task, w, head = Task.of(batch), batch.initial_kernels(), batch.block_head()
    done = fit(
        [task.train],
        w,
        head,
        batch.activation,
        learning_rate=recipe["learning_rate_per_class"] * batch.spec.classes,
        tolerance=recipe["tolerance"],
        max_steps=recipe["max_steps"],
        report=report,
    )
    state = {"loss": done.loss, "steps": done.steps, "converged": done.converged}
    single = predict(task.single_view, done.w, head, batch.activation)
    held = capture(done.w, batch.features, batch.activation, by_class=True)
    return [
        *replicate_rows(
            "supervised", {**state, "initial_ratio": initial_ratio(batch, w, by_class=True)}
        ),
        *network_rows("supervised", task, done.w, head),
        *capture_rows("supervised", held),
        *cause_rows("supervised", task.single_view, single, held),
        *head_rows("supervised_head", task, done.w),
    ]


def pretrained_rows(
    batch: Batch, options: Mapping[str, Any], report: Report
) -> list[EvaluationRow]:
    """Pre-train by mask reconstruction (MAE); measure it under a new head, and what learns nothing.

    Those are the kernels of the start, and the sum of the raw patches, under heads of their own.

    Parameters
    ----------
    options
        With a group ``pretraining``, as in the headline experiment.
    """
    task, w = Task.of(batch), batch.initial_kernels()
    found = _mask_reconstruction(batch, task.train, w, options["pretraining"], report)
    state = {"steps": found.stopped, "initial_ratio": initial_ratio(batch, w, by_class=False)}
    return [
        *replicate_rows("pretrained", state),
        *capture_rows("pretrained", capture(found.w, batch.features, batch.activation)),
        *head_rows("pretrained", task, found.w),
        *head_rows("random", task, w),
        *head_rows("raw_linear", task, raw),
    ]


def capture_time_rows(
    batch: Batch, options: Mapping[str, Any], report: Report
) -> list[EvaluationRow]:
    """What kernels hold at the very step at which the last feature is captured.

    Kernels that hold several features then may lose all but one of them later.
    """
    recipe = {**options["pretraining"], "hit_factor": 1, "min_steps": 0}
    found = _mask_reconstruction(
        batch, batch.train_samples(), batch.initial_kernels(), recipe, report
    )
    held = capture(found.w, batch.features, batch.activation)
    steps = replicate_rows("at_capture", {"steps": found.stopped})
    return [*steps, *capture_rows("at_capture", held)]


def _mask_reconstruction(
    batch: Batch, samples: Samples, w: Tensor, recipe: Mapping[str, Any], report: Report
) -> Pretrained:
    return pretrain(
        samples.x,
        batch.features,
        w,
        MaskedAutoencoder(batch.activation, recipe["theta"]),
        varrho=batch.activation.varrho,
        learning_rate=recipe["learning_rate"],
        max_steps=recipe["max_steps"],
        min_steps=recipe["min_steps"],
        hit_factor=recipe["hit_factor"],
        record_every=recipe["max_steps"],
        report=report,
    )


def initial_ratio(batch: Batch, w: Tensor, *, by_class: bool) -> Tensor:
    """(R,) ``Lambda^(0) / varrho``, averaged over the features.

    With ``by_class``, ``Lambda`` is the maximum over the kernels of the feature's own class: those
    that a fixed head lets compete for it.
    """
    held = capture(w, batch.features, batch.activation, by_class=by_class)
    return held.strength().flatten(1).mean(1) / batch.activation.varrho


def cause_rows(
    model: str, single: Samples, prediction: Prediction, held: Capture
) -> Iterator[EvaluationRow]:
    """Accuracy on single-view samples by what became of the view that they show.

    A sample's own view was ``kept`` or ``lost``; if lost, a captured feature of another class is
    present (a ``distractor``) or not, and then the sample can be right by elimination. A group that
    is empty in a replicate has no row of accuracy there.
    """
    captured = held.captured()
    own = torch.arange(single.y.shape[0], device=single.y.device)[:, None]
    kept = captured[own, single.y, single.strong]
    other = torch.arange(captured.shape[1], device=single.y.device) != single.y.unsqueeze(-1)
    seen = single.active & captured.unsqueeze(1) & other.unsqueeze(-1)
    distracted = seen.flatten(2).any(-1)
    groups = {"kept": kept, "lost": ~kept, "lost_distractor": ~kept & distracted,
              "lost_alone": ~kept & ~distracted}  # fmt: skip
    right = prediction.scores.argmax(-1) == single.y
    for name, chosen in groups.items():
        count = chosen.sum(-1).double()
        share = (right & chosen).sum(-1) / count
        yield from replicate_rows(model, {f"share_{name}": count / chosen.shape[-1]})
        yield from (
            row for row in replicate_rows(model, {f"accuracy_{name}": share}) if row[-1] == row[-1]
        )


@dataclass(frozen=True)
class Measured:
    """How one kind of network is trained and measured, and the most steps that this can take."""

    rows: Callable[[Batch, Mapping[str, Any], Report], list[EvaluationRow]]
    recipe: str

    def most_steps(self, options: Mapping[str, Any]) -> int:
        return int(options[self.recipe]["max_steps"])


#: The two kinds of network that a sweep compares.
MEASURED = {
    "supervised": Measured(supervised_rows, "supervised"),
    "pretrained": Measured(pretrained_rows, "pretraining"),
}
