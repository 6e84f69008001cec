"""Teacher-student pre-training, stopped at capture; and all models from equal starts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd
import torch
from torch import Tensor

from featlearn.core.frames import tidy
from featlearn.core.progress import Progress
from featlearn.mrp import train
from featlearn.mrp.data import Problem
from featlearn.mrp.experiments.clean import noise_frame
from featlearn.mrp.kernels import Capture, capture, lottery_sets, memberships, winner_in_set
from featlearn.mrp.measure import head, history, joined, majority, network, raw, rows
from featlearn.mrp.model import capture_strength, correlations

if TYPE_CHECKING:
    from featlearn.core.job import Job
    from featlearn.core.outputs import Results


def watch(varrho: float) -> train.Observe:
    """What pre-training writes down beside ``Lambda``: counts, and ``off_diagonal`` (R, k, L)."""

    def observe(w: Tensor, features: Tensor) -> dict[str, Tensor]:
        held = Capture(correlations(w, features), varrho)
        return {"off_diagonal": held.second_best(), **held.counts()}

    return observe


def counts_over_time(trace: train.Trace) -> pd.DataFrame:
    """The counts of a run with :func:`watch`."""
    names = ("winners", "impure", "sibling", "cross", "largest")
    return history(trace.steps, {name: trace[name] for name in names})


def pretrain(job: Job) -> Results:
    """Pre-train until every feature is captured; all replicates at once.

    ``off_diagonal`` of ``growth`` is the largest |correlation| of the feature with a kernel whose
    strongest feature is another one.
    """
    problem = Problem("teacher-student", job.config, job.seed, job.device)
    options = job.config["pretraining"]
    done = train.pretrain(
        problem.train.x, problem.features, problem.kernels(), problem.activation, **options,
        patches_per_feature=problem.spec.patches_per_feature,
        observe=watch(problem.activation.varrho),
        report=Progress(job.rule, options["max_steps"]).report,
    )  # fmt: skip
    names = ("strength", "off_diagonal")
    return {
        "weights": {"w": done.w, "hit": done.hit, "stopped": done.stopped},
        "growth": history(
            done.trace.steps, {name: done.trace[name] for name in names}, ("class", "view")
        ),
        "purity": counts_over_time(done.trace),
    }


def evaluate(job: Job) -> Results:
    """Train heads on the captured kernels, on random and on supervised ones; fine-tune.

    ``matrix`` has the correlations of one replicate's kernels that hold something at the end.
    """
    config = job.config["teacher_student"]
    problem = Problem("teacher-student", config, job.seed, job.device)
    features, activation = problem.features, problem.activation
    initial, pretrained = problem.kernels(), job.tensors("pretrained")
    supervised = train.supervise(problem, initial, **config["supervised"])
    finetuned = train.finetune(problem, pretrained["w"], **config["finetuning"]).w
    frames = [
        rows(majority(problem), model="majority"),
        rows(head(problem, raw), model="raw_linear"),
        rows(network(problem, supervised.w, supervised.u), model="supervised"),
        rows(head(problem, initial), model="random"),
        rows(head(problem, supervised.w), model="supervised_head"),
        rows(head(problem, pretrained["w"]), model="pretrained"),
        rows(head(problem, finetuned), model="finetuned"),
    ]
    blocks = capture(supervised.w, features, activation, by_class=True)
    frames.append(rows(blocks.purity(), model="supervised"))
    kernels = {"finetuned": finetuned, "initial": initial, "pretrained": pretrained["w"]}
    held = {name: capture(w, features, activation) for name, w in kernels.items()}
    frames += [rows(one.purity(), model=name) for name, one in held.items()]
    for name, constant in {"narrow": 0.25, "wide": 1.0}.items():
        sets = lottery_sets(held["initial"].correlation, constant)
        inside = winner_in_set(held["pretrained"].correlation, sets)
        quantities = {
            f"winner_in_set_{name}": inside.flatten(1).double().mean(-1),
            f"shared_kernels_{name}": (memberships(sets) > 1).sum(-1),
        }
        frames.append(rows(quantities, model="pretrained"))
    first_hit = pretrained["hit"].flatten(1).amin(1)
    steps = {"steps": pretrained["stopped"], "first_hit": first_hit}
    frames.append(rows(steps, model="pretrained"))

    mae = Problem("clean", job.config["clean"], job.seed, job.device)
    pairs = {
        "ts": (problem, initial, pretrained["w"]),
        "mae": (mae, mae.kernels(), job.tensors("reference")["w"]),
    }
    matrix = [kernel_matrix(name, *trained) for name, trained in pairs.items()]
    return {
        "evaluation": joined(*frames),
        "noise": noise_frame(problem, pretrained["w"]),
        "matrix": joined(*matrix),
    }


def kernel_matrix(framework: str, problem: Problem, before: Tensor, after: Tensor) -> pd.DataFrame:
    """Kernel-by-feature matrix of the first replicate, before and after: winners of the end."""
    first, last = (
        correlations(w[:1], problem.features[:1])[0].flatten(1).cpu() for w in (before, after)
    )
    winners = torch.nonzero(last.amax(1) >= problem.activation.varrho).flatten()
    axes = {"framework": [framework], "when": ["before", "after"], "kernel": winners.tolist(),
            "feature": range(first.shape[1])}  # fmt: skip
    return tidy(axes, correlation=torch.stack([first[winners], last[winners]])[None])


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
