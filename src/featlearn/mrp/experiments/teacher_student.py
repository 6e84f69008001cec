"""Teacher-student pre-training, stopped at capture; and all models from equal starts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from torch import Tensor

from featlearn.core.progress import Progress
from featlearn.mrp import train
from featlearn.mrp.data import Problem
from featlearn.mrp.experiments.clean import noise_frame
from featlearn.mrp.kernels import capture
from featlearn.mrp.measure import head, joined, network, rows
from featlearn.mrp.model import capture_strength

if TYPE_CHECKING:
    from featlearn.core.job import Job
    from featlearn.core.outputs import Results


def pretrain(job: Job) -> Results:
    """Pre-train until every feature is captured, and measure what the kernels hold then."""
    problem = Problem("teacher-student", job.config, job.seed, job.device)
    options = job.config["pretraining"]
    w = train.pretrain(
        problem.train.x, problem.features, problem.kernels(), problem.activation, **options,
        patches_per_feature=problem.spec.patches_per_feature,
        report=Progress(job.rule, options["max_steps"]).report,
    ).w  # fmt: skip
    held = capture(w, problem.features, problem.activation)
    return {
        "evaluation": rows(held.purity(), model="pretrained"),
        "noise": noise_frame(problem, w),
    }


# --------------------------------------------------------------------------- equal starts


def equal_start(job: Job) -> Results:
    """Train all models from the same kernels, at every size and number of them.

    The supervised lottery needs initial correlations far below ``varrho``; a clean teacher-student
    capture needs them close to it, for between the first and the last capture pass some
    ``sigma_0**-(2q-2)`` steps, in which mixed kernels grow at a rate that does not depend on
    ``sigma_0``. The sweep looks for a start at which both exist.
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

    Pre-training by teacher and student stops at the capture of the last feature, or when a kernel
    overflows. Every head is new and trained to its optimum, on standardised features: large kernels
    are as good as small ones. The supervised network counts as trained, too.
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
    for name, options in config["teacher_student"].items():
        done = train.pretrain(problem.train.x, features, w, activation, **options,
                              patches_per_feature=room, may_diverge=True)  # fmt: skip
        kept = capture(done.w, features, activation).purity()
        state = {"diverged": done.diverged, "steps": done.stopped}
        quantities.append((name, {**state, **kept, **head(problem, done.w)}))
    mae = train.pretrain(problem.train.x, features, w, activation, **config["mae"])
    kept = capture(mae.w, features, activation).purity()
    return [*quantities, ("mae", {"steps": mae.stopped, **kept, **head(problem, mae.w)})]
