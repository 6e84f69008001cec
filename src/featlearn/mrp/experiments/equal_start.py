"""Supervised, teacher-student and MAE training from the same kernels, as their size grows.

The supervised lottery needs initial correlations far below ``varrho``; a clean teacher-student
capture needs them close to it, for between the first and the last capture pass some
``sigma_0**-(2q-2)`` steps, in which mixed kernels grow at a rate that does not depend on
``sigma_0``. The sweep looks for a start at which both exist.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd
from torch import Tensor

from featlearn.core.progress import Progress
from featlearn.mrp.classify import Task
from featlearn.mrp.experiment import Experiment
from featlearn.mrp.heads import head_rows, network_rows
from featlearn.mrp.measure import EvaluationRow, capture, replicate_rows
from featlearn.mrp.purity import kernel_rows
from featlearn.mrp.teacher_student import teacher_student
from featlearn.mrp.train import MaskedAutoencoder, capture_strength, pretrain

if TYPE_CHECKING:
    from featlearn.core.job import Job
    from featlearn.core.outputs import Results

#: Columns of ``evaluation.parquet``: a row a start, model, replicate and quantity.
COLUMNS = ("kernels_per_class", "sigma_0", "model", "replicate", "quantity", "value")


def train(job: Job) -> Results:
    """Train all models from the same kernels, at every size and number of them."""
    config = job.config
    starts = [(m, s) for m in config["kernels_per_class"] for s in config["sigma_0"]]
    progress = Progress(job.rule, len(starts))
    seen: list[tuple[Any, ...]] = []
    task = None
    for number, (kernels, sigma_0) in enumerate(starts):
        # data, features and directions of kernels do not depend on the start
        network = {**config["network"], "kernels_per_class": kernels, "sigma_0": sigma_0}
        here = {**config, "network": network}
        experiment = Experiment("equal-start", here, job.seed, job.device)
        task = task or Task.of(experiment)
        seen += [(kernels, sigma_0, *row) for row in _models(experiment, task, config)]
        progress.report(number + 1, lambda: {})
    return {"evaluation": pd.DataFrame(seen, columns=COLUMNS)}


def _models(
    experiment: Experiment, task: Task, config: Mapping[str, Any]
) -> Iterator[EvaluationRow]:
    """All models from one start: what their kernels hold, and their accuracies.

    Pre-training by teacher and student stops at the capture of the last feature, or when a kernel
    overflows. Every head is new and trained to its optimum, on standardised features: large kernels
    are as good as small ones. The supervised network counts as trained, too.
    """
    w = experiment.initial_kernels()
    varrho = experiment.activation.varrho
    start = capture_strength(w, task.features).flatten(1).mean(1) / varrho
    yield from replicate_rows("start", {"strength_over_varrho": start})

    supervised = task.supervise(w, config["supervised"])
    held = capture(supervised.w, task.features, task.activation, by_class=True)
    yield from network_rows("supervised", task, supervised.w, supervised.u)
    yield from kernel_rows("supervised", held)
    yield from head_rows("supervised_head", task, supervised.w)
    yield from head_rows("random", task, w)
    for name, options in config["teacher_student"].items():
        done = teacher_student(experiment, task.train.x, w, may_diverge=True, **options)
        yield from replicate_rows(name, {"diverged": done.diverged, "steps": done.stopped})
        yield from _pretrained(task, name, done.w)
    options = dict(config["mae"])
    method = MaskedAutoencoder(task.activation, options.pop("theta"))
    mae = pretrain(task.train.x, task.features, w, method, varrho=varrho, **options)
    yield from replicate_rows("mae", {"steps": mae.stopped})
    yield from _pretrained(task, "mae", mae.w)


def _pretrained(task: Task, name: str, w: Tensor) -> Iterator[EvaluationRow]:
    yield from kernel_rows(name, capture(w, task.features, task.activation))
    yield from head_rows(name, task, w)
