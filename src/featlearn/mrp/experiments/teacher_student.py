"""Teacher-student pre-training, stopped at capture; and all models from equal starts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from torch import Tensor

from featlearn.core.run.progress import Progress
from featlearn.mrp import train
from featlearn.mrp.data import Problem
from featlearn.mrp.experiments.clean import noise_frame
from featlearn.mrp.kernels import capture
from featlearn.mrp.measure import head, joined, network, rows
from featlearn.mrp.model import capture_strength

if TYPE_CHECKING:
    from featlearn.core.run.job import Job
    from featlearn.core.run.outputs import Results


def pretrain(job: Job) -> Results:
    """Pre-train until every feature is captured, and align the winners with the noise."""
    problem = Problem("teacher-student", job.config, job.seed, job.device)
    options = job.config["pretraining"]
    w = train.pretrain(
        problem.train.x, problem.features, problem.kernels(), problem.activation, **options,
        patches_per_feature=problem.spec.patches_per_feature,
        report=Progress(job.rule, options["max_steps"]).report,
    ).w  # fmt: skip
    return {"noise": noise_frame(problem, w)}


def equal_start(job: Job) -> Results:
    """Train all models from the same kernels, at every size and number of them.

    The supervised lottery needs initial correlations far below ``varrho``, a clean teacher-student
    capture close to it: between first and last capture pass some ``sigma_0**-(2q-2)`` steps, in
    which mixed kernels grow whatever ``sigma_0`` is. The sweep looks for a start with both.
    """
    config, frames = job.config, []
    starts = [(m, s) for m in config["kernels_per_class"] for s in config["sigma_0"]]
    progress = Progress(job.rule, len(starts))
    # data, features and directions of kernels do not depend on the start
    problem = Problem("equal-start", config, job.seed, job.device)
    for number, (kernels, sigma_0) in enumerate(starts):
        start = {"kernels_per_class": kernels, "sigma_0": sigma_0}
        for model, quantities in from_start(problem, problem.kernels(**start), config):
            frames.append(rows(quantities, **start, model=model))
        progress.report(number + 1, lambda: {})
    return {"evaluation": joined(*frames)}


def from_start(
    problem: Problem, w: Tensor, config: Mapping[str, Any]
) -> list[tuple[str, dict[str, Tensor]]]:
    """All models from one start: what their kernels hold, and their accuracies.

    Teacher-student training stops at the last capture, or when a kernel overflows. Heads are new
    and at their optimum, on standardised features; the supervised network also counts as trained.
    """
    features, activation = problem.features, problem.activation
    strength = capture_strength(w, features).flatten(1).mean(1) / activation.varrho
    supervised = train.supervise(problem, w, **config["supervised"])
    held = capture(supervised.w, features, activation, by_class=True)
    as_trained = network(problem, supervised.w, supervised.u)
    quantities = [
        ("start", {"strength_over_varrho": strength}),
        ("supervised", {**as_trained, **held.purity()}),
        ("supervised_head", head(problem, supervised.w)),
        ("random", head(problem, w)),
    ]
    room = problem.spec.patches_per_feature

    def kept(w: Tensor) -> dict[str, Tensor]:
        return {**capture(w, features, activation).purity(), **head(problem, w)}

    for name, options in config["teacher_student"].items():
        done = train.pretrain(problem.train.x, features, w, activation, **options,
                              patches_per_feature=room, may_diverge=True)  # fmt: skip
        quantities.append((name, kept(done.w)))
    mae = train.pretrain(problem.train.x, features, w, activation, **config["mae"])
    return [*quantities, ("mae", kept(mae.w))]
