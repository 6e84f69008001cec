"""Teacher-student pre-training, stopped at capture: what its kernels hold, and fine-tuning."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import pandas as pd
import torch
from torch import Tensor

from featlearn.core.progress import Progress
from featlearn.mrp.classify import Task
from featlearn.mrp.experiment import Experiment
from featlearn.mrp.heads import head_rows, majority_rows, network_rows, raw
from featlearn.mrp.lottery import lottery_sets, memberships, winner_in_set
from featlearn.mrp.measure import (
    EVALUATION_COLUMNS,
    EvaluationRow,
    capture,
    replicate_rows,
    strength_history,
)
from featlearn.mrp.noise import noise_frame
from featlearn.mrp.purity import Watch, kernel_rows, purity_history
from featlearn.mrp.teacher_student import teacher_student
from featlearn.mrp.train import Trace, correlations

if TYPE_CHECKING:
    from featlearn.core.job import Job
    from featlearn.core.outputs import Results

#: Columns of ``matrix.parquet``: one correlation; kernels are those that hold something at the end.
MATRIX_COLUMNS = ("framework", "when", "kernel", "feature", "correlation")


def pretrain(job: Job) -> Results:
    """Pre-train until every feature is captured; all replicates at once."""
    experiment = Experiment("teacher-student", job.config, job.seed, job.device)
    options = job.config["pretraining"]
    done = teacher_student(
        experiment,
        experiment.train_samples().x,
        experiment.initial_kernels(),
        observe=Watch(experiment.activation.varrho),
        report=Progress(job.rule, options["max_steps"]).report,
        **options,
    )
    return {
        "weights": {"w": done.w, "hit": done.hit, "stopped": done.stopped},
        "growth": growth_history(done.trace),
        "purity": purity_history(done.trace),
    }


def evaluate(job: Job) -> Results:
    """Heads on the kernels, before and after fine-tuning, on random and on supervised ones."""
    own, clean = job.config["teacher_student"], job.config["clean"]
    experiment = Experiment("teacher-student", own, job.seed, job.device)
    features, activation = experiment.features, experiment.activation
    task = Task.of(experiment)
    initial = experiment.initial_kernels()
    pretrained = job.tensors("pretrained")

    supervised = task.supervise(initial, own["supervised"])
    kernels = {
        "random": initial,
        "supervised_head": supervised.w,
        "pretrained": pretrained["w"],
        "finetuned": task.finetune(pretrained["w"], own["finetuning"]).w,
    }
    seen = [*majority_rows(task), *head_rows("raw_linear", task, raw)]
    seen += network_rows("supervised", task, supervised.w, supervised.u)
    for name, w in kernels.items():
        seen += head_rows(name, task, w)
    for name, w in {"supervised": supervised.w, "finetuned": kernels["finetuned"]}.items():
        held = capture(w, features, activation, by_class=name == "supervised")
        seen += kernel_rows(name, held)
    before, after = (capture(w, features, activation) for w in (initial, pretrained["w"]))
    seen += [*kernel_rows("initial", before), *kernel_rows("pretrained", after)]
    constants = {"narrow": 0.25, "wide": 1.0}
    seen += lottery_rows("pretrained", before.correlation, after.correlation, constants)
    first_hit = pretrained["hit"].flatten(1).amin(1)
    seen += replicate_rows("pretrained", {"steps": pretrained["stopped"], "first_hit": first_hit})

    mae = Experiment("clean", clean, job.seed, job.device)
    reference = job.tensors("reference")["w"]
    matrix = [
        *matrix_rows("ts", initial[0], pretrained["w"][0], features[0], activation.varrho),
        *matrix_rows(
            "mae", mae.initial_kernels()[0], reference[0], mae.features[0], mae.activation.varrho
        ),
    ]
    return {
        "evaluation": pd.DataFrame(seen, columns=EVALUATION_COLUMNS),
        "noise": noise_frame(experiment, pretrained["w"]),
        "matrix": pd.DataFrame(matrix, columns=MATRIX_COLUMNS),
    }


def growth_history(trace: Trace) -> pd.DataFrame:
    """Winners and losers over time: columns step, replicate, class, view, strength, off_diagonal.

    ``off_diagonal`` is the largest |correlation| of the feature with a kernel whose strongest
    feature is another one; the trace must come from a run with :class:`Watch`.
    """
    return strength_history(trace).assign(
        off_diagonal=trace.stacked("off_diagonal").flatten().numpy()
    )


def lottery_rows(
    model: str, before: Tensor, after: Tensor, constants: Mapping[str, float]
) -> Iterator[EvaluationRow]:
    """Share of the winners that the initial draw had in its lottery set, for each ``C_M``.

    ``before`` and ``after`` are correlations (R, K, k, L).
    """
    for name, constant in constants.items():
        sets = lottery_sets(before, constant)
        inside = winner_in_set(after, sets).flatten(1).double().mean(-1)
        shared = (memberships(sets) > 1).sum(-1)
        yield from replicate_rows(
            model, {f"winner_in_set_{name}": inside, f"shared_kernels_{name}": shared}
        )


def matrix_rows(
    framework: str, before: Tensor, after: Tensor, features: Tensor, varrho: float
) -> Iterator[tuple[str, str, int, int, float]]:
    """Kernel-by-feature matrix of one replicate, before and after, of :data:`MATRIX_COLUMNS`.

    Parameters
    ----------
    before, after : (K, d)
    features : (k, L, d)
    """
    first, last = (
        correlations(w.unsqueeze(0), features.unsqueeze(0))[0].flatten(1) for w in (before, after)
    )
    winners = torch.nonzero(last.amax(1) >= varrho).flatten().tolist()
    for when, matrix in {"before": first, "after": last}.items():
        for kernel in winners:
            for feature, value in enumerate(matrix[kernel].tolist()):
                yield framework, when, kernel, feature, value
