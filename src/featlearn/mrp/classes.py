"""The supervised lottery as the number of classes grows, and as training goes on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from torch import Tensor

from featlearn.mrp.comparison import cause_rows
from featlearn.mrp.data import Samples, packed
from featlearn.mrp.measure import EvaluationRow, capture, capture_rows, predict, replicate_rows
from featlearn.mrp.supervised import fit
from featlearn.mrp.sweep import Batch
from featlearn.mrp.train import Report


def section_of(
    scaling: Mapping[str, Any], network: Mapping[str, Any], classes: int, replicates: int
) -> dict[str, Any]:
    """A section of an experiment with ``classes`` classes, by the scaling of the theory.

    Parameters
    ----------
    scaling
        ``dimension_per_class``, ``train_samples_per_class``, ``test_samples``, ``sparsity``,
        ``patches`` (room for the features that are present: the others are dropped, see
        :func:`featlearn.mrp.data.packed`) and ``reference_classes``.
    network
        With ``sigma_0`` as it is at ``reference_classes``. It falls like ``k**(-1/(q-2))``: the
        theory asks for ``sigma_0**(q-2) <= 1/k``.
    """
    shrink = (scaling["reference_classes"] / classes) ** (1 / (network["q"] - 2))
    return {
        "replicates": replicates,
        "data": {
            "classes": classes,
            "dimension": scaling["dimension_per_class"] * classes,
            "patches": scaling["patches"],
            "sparsity": scaling["sparsity"],
            "train_samples": scaling["train_samples_per_class"] * classes,
            "test_samples": scaling["test_samples"],
        },
        "network": {**network, "sigma_0": network["sigma_0"] * shrink},
    }


def lottery_rows(batch: Batch, training: Mapping[str, Any], report: Report) -> list[EvaluationRow]:
    """Train until the labels are fitted; then features kept, accuracy and its causes."""
    head = batch.block_head()
    done = fit(
        packed(batch.train_samples(), training["parts"]),
        batch.initial_kernels(),
        head,
        batch.activation,
        learning_rate=training["learning_rate_per_class"] * batch.spec.classes,
        tolerance=training["tolerance"],
        max_steps=training["max_steps"],
        report=report,
    )
    state = {"loss": done.loss, "steps": done.steps, "converged": done.converged}
    return [
        *replicate_rows("supervised", state),
        *_measured(batch, _tests(batch), done.w, head, train_accuracy=done.accuracy),
    ]


def length_rows(
    batch: Batch, training: Mapping[str, Any], report: Report
) -> list[tuple[int, EvaluationRow]]:
    """The same at several lengths of one training that does not stop: (step, row)."""
    head, tests = batch.block_head(), _tests(batch)
    found: list[tuple[int, EvaluationRow]] = []

    def look(step: int, w: Tensor) -> None:
        found.extend((step, row) for row in _measured(batch, tests, w, head))

    fit(
        packed(batch.train_samples(), training["parts"]),
        batch.initial_kernels(),
        head,
        batch.activation,
        learning_rate=training["learning_rate_per_class"] * batch.spec.classes,
        tolerance=0.0,
        max_steps=max(training["watched"]),
        watch=look,
        watched=training["watched"],
        report=report,
    )
    return found


def _tests(batch: Batch) -> dict[str, Samples]:
    """Test sets without their empty patches."""
    return {
        name: packed(batch.test_samples(single_view=name == "single_view"))[0]
        for name in ("multi_view", "single_view")
    }


def _measured(
    batch: Batch, tests: Mapping[str, Samples], w: Tensor, head: Tensor, **more: Tensor
) -> Iterator[EvaluationRow]:
    held = capture(w, batch.features, batch.activation, by_class=True)
    seen = {name: predict(test, w, head, batch.activation) for name, test in tests.items()}
    captured = held.captured()
    more |= {f"accuracy_{name}": prediction.accuracy() for name, prediction in seen.items()}
    more["classes_without_feature"] = (~captured.any(-1)).double().mean(-1)
    more["classes_with_all"] = captured.all(-1).double().mean(-1)
    yield from replicate_rows("supervised", more)
    yield from capture_rows("supervised", held)
    yield from cause_rows("supervised", tests["single_view"], seen["single_view"], held)
