"""The supervised lottery as the number of classes grows, and as training goes on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd
from torch import Tensor

from featlearn.core.progress import Progress
from featlearn.mrp.comparison import cause_rows
from featlearn.mrp.data import Samples, packed
from featlearn.mrp.measure import (
    EVALUATION_COLUMNS,
    EvaluationRow,
    capture,
    capture_rows,
    predict,
    replicate_rows,
)
from featlearn.mrp.supervised import Fitted, Watch, fit
from featlearn.mrp.sweep import Batch

if TYPE_CHECKING:
    from featlearn.core.job import Job
    from featlearn.core.outputs import Results


def add_classes(job: Job) -> Results:
    """Train the supervised network at growing numbers of classes and measure its lottery."""
    config, training = job.config, job.config["training"]
    frames = []
    for classes in config["classes"]:
        section = section_of(config["scaling"], config["network"], classes, config["replicates"])
        batch = Batch(f"classes-{classes}", [section], job.seed, job.device)
        head = batch.block_head()
        progress = Progress(f"{job.rule}, k = {classes}", training["max_steps"])
        done = _fit(batch, head, training, progress, training["tolerance"], training["max_steps"])
        state = {"loss": done.loss, "steps": done.steps, "converged": done.converged}
        rows = [
            *replicate_rows("supervised", state),
            *_measured(batch, _tests(batch), done.w, head, train_accuracy=done.accuracy),
        ]
        frames.append(batch.frame(rows, ["classes", "sigma_0"]))
    return {"classes": pd.concat(frames, ignore_index=True)}


def train_longer(job: Job) -> Results:
    """Measure the lottery again and again during one long supervised training."""
    config = job.config["length"]
    scaling, last = config["scaling"], max(config["watched"])
    section = section_of(
        scaling, config["network"], scaling["reference_classes"], job.config["replicates"]
    )
    batch = Batch("training-length", [section], job.seed, job.device)
    head, tests = batch.block_head(), _tests(batch)
    rows: list[tuple[Any, ...]] = []

    def look(step: int, w: Tensor) -> None:
        rows.extend((step, *row) for row in _measured(batch, tests, w, head))

    _fit(batch, head, config, Progress(job.rule, last), 0.0, last, look, config["watched"])
    frame = pd.DataFrame(rows, columns=["step", *EVALUATION_COLUMNS])
    # comparable at other learning rates and numbers of classes
    frame.insert(1, "time", frame["step"] * config["learning_rate_per_class"])
    return {"length": frame}


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


def _fit(
    batch: Batch,
    head: Tensor,
    training: Mapping[str, Any],
    progress: Progress,
    tolerance: float,
    max_steps: int,
    watch: Watch | None = None,
    watched: Sequence[int] = (),
) -> Fitted:
    return fit(
        packed(batch.train_samples(), training["parts"]),
        batch.initial_kernels(),
        head,
        batch.activation,
        learning_rate=training["learning_rate_per_class"] * batch.spec.classes,
        tolerance=tolerance,
        max_steps=max_steps,
        report=progress.report,
        watch=watch,
        watched=watched,
    )


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
