"""Where the supervised lottery is and where not: starts, data, classes, length of training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import pandas as pd
import torch
from torch import Tensor

from featlearn.core.errors import DivergedError
from featlearn.core.run.progress import Progress
from featlearn.mrp.data import Problem, Samples, packed
from featlearn.mrp.kernels import Capture, capture
from featlearn.mrp.measure import Prediction, head, joined, network, predict, raw, rows, share
from featlearn.mrp.train import Fitted, Pretrained, Report, fit
from featlearn.mrp.train import pretrain as train_encoder

if TYPE_CHECKING:
    from featlearn.core.run.job import Job
    from featlearn.core.run.outputs import Results

#: Groups of a section that hold the parameters of a sweep; all others are in ``network``.
GROUPS = {"feature_noise": "data", "theta": "pretraining"}


def phase_diagram(job: Job) -> Results:
    """Train one kind of network at every cell: initial correlation x single-view share."""
    config, grid, frames = job.config, job.config["grid"], []
    shares = grid["single_view_share"]
    # the shares of single-view data train together; a larger sigma_0 ends much sooner
    for sigma_0 in grid["sigma_0"]:
        section = {**config, "network": {**config["network"], "sigma_0": sigma_0}}
        problem = Problem("phase-diagram", section, job.seed, job.device, shares=shares)
        frame = models(problem, job, f"sigma_0 = {sigma_0}")
        point = frame["replicate"] // problem.replicates
        frame["replicate"] %= problem.replicates
        frame.insert(0, "sigma_0", sigma_0)
        frame.insert(1, "single_view_share", point.map(dict(enumerate(shares))))
        frames.append(frame)
    return {"cells": joined(*frames)}


def sweeps(job: Job) -> Results:
    """One parameter at a time, the others as they are, for one kind of network.

    The sweep over sigma_0 is a column of the phase diagram. A value at which training diverges is
    left out, and told; DivergedError if all do.
    """
    frames, lost = [], []
    for parameter, points in job.config["points"].items():
        if parameter == "theta" and job.wildcards.model == "supervised":
            continue  # nothing is masked there
        for value in points:
            section = deepcopy(dict(job.config))
            section[GROUPS.get(parameter, "network")][parameter] = value
            problem = Problem("sweeps", section, job.seed, job.device)
            try:
                frame = models(problem, job, f"{parameter} = {value}", at_capture=True)
            except DivergedError as error:
                lost.append(error)
                job.tell(f"left out: {error}")
                continue
            frame.insert(0, "parameter", parameter)
            frame.insert(1, "at", float(value))
            frames.append(frame)
    if not frames:
        raise lost[0]
    return {"points": joined(*frames)}


def models(problem: Problem, job: Job, words: str, *, at_capture: bool = False) -> pd.DataFrame:
    """Train the kind of network that the wildcard ``model`` names, and measure it."""
    supervised = job.wildcards.model == "supervised"
    recipe = problem.config["supervised" if supervised else "pretraining"]
    report = Progress(f"{job.rule}, {words}", recipe["max_steps"]).report
    try:
        if supervised:
            return supervised_rows(problem, report)
        frame = pretrained_rows(problem, report)
        return joined(frame, capture_rows(problem, report)) if at_capture else frame
    except DivergedError as error:
        raise DivergedError(f"{words}, {error}") from error


def supervised_rows(problem: Problem, report: Report) -> pd.DataFrame:
    """Train the supervised network of Lemma 1 until it fits its labels; measure it, a new head."""
    w = problem.kernels()
    done = _fit(problem, problem.config["supervised"], [problem.train], report=report)
    u, single = problem.blocks(w), problem.tests["single_view"]
    held = capture(done.w, problem.features, problem.activation, by_class=True)
    quantities = {
        "loss": done.loss,
        "steps": done.steps,
        "converged": done.converged,
        "initial_ratio": initial_ratio(problem, w, by_class=True),
        **network(problem, done.w, u),
        **held.summary(),
        **causes(single, predict(single, done.w, u, problem.activation), held),
    }
    new_head = rows(head(problem, done.w), model="supervised_head")
    return joined(without_gaps(rows(quantities, model="supervised")), new_head)


def pretrained_rows(problem: Problem, report: Report) -> pd.DataFrame:
    """Pre-train by MAE; measure new heads on it, on the start, and on the summed raw patches."""
    w = problem.kernels()
    done = _pretrained(problem, w, report)
    held = capture(done.w, problem.features, problem.activation)
    ratio = initial_ratio(problem, w, by_class=False)
    state = {"steps": done.stopped, "initial_ratio": ratio}
    quantities = {**state, **held.summary(), **head(problem, done.w)}
    return joined(
        rows(quantities, model="pretrained"),
        rows(head(problem, w), model="random"),
        rows(head(problem, raw), model="raw_linear"),
    )


def capture_rows(problem: Problem, report: Report) -> pd.DataFrame:
    """What kernels hold at the last capture; they may lose features of several later."""
    done = _pretrained(problem, problem.kernels(), report, hit_factor=1, min_steps=0)
    held = capture(done.w, problem.features, problem.activation)
    return rows({"steps": done.stopped, **held.summary()}, model="at_capture")


def _pretrained(problem: Problem, w: Tensor, report: Report, **changed: Any) -> Pretrained:
    recipe = {**problem.config["pretraining"], **changed}
    return train_encoder(
        problem.train.x, problem.features, w, problem.activation, **recipe,
        record_every=recipe["max_steps"], report=report,
    )  # fmt: skip


def initial_ratio(problem: Problem, w: Tensor, *, by_class: bool) -> Tensor:
    """(R,) ``Lambda^(0) / varrho``, mean over features, ``by_class`` over a fixed head's rivals."""
    held = capture(w, problem.features, problem.activation, by_class=by_class)
    return held.strength().flatten(1).mean(1) / problem.activation.varrho


def causes(single: Samples, prediction: Prediction, held: Capture) -> dict[str, Tensor]:
    """Accuracy on single-view samples by what became of the view that they show.

    It was ``kept`` or ``lost``; if lost, a captured feature of another class is present (a
    ``distractor``) or not, and then the sample can be right by elimination. The accuracy of a group
    that is empty in a replicate is NaN there.
    """
    captured = held.captured()
    replicate = torch.arange(single.y.shape[0], device=single.y.device)[:, None]
    kept = captured[replicate, single.y, single.strong]
    other = torch.arange(captured.shape[1], device=single.y.device) != single.y.unsqueeze(-1)
    visible = single.active & captured.unsqueeze(1) & other.unsqueeze(-1)
    distracted = visible.flatten(2).any(-1)
    groups = {"kept": kept, "lost": ~kept, "lost_distractor": ~kept & distracted,
              "lost_alone": ~kept & ~distracted}  # fmt: skip
    quantities = {}
    for name, chosen in groups.items():
        quantities[f"share_{name}"] = chosen.sum(-1).double() / chosen.shape[-1]
        quantities[f"accuracy_{name}"] = share(prediction.right(), chosen)
    return quantities


def without_gaps(frame: pd.DataFrame) -> pd.DataFrame:
    """Without the accuracies of groups that are empty, see :func:`causes`."""
    names = [f"accuracy_{name}" for name in ("kept", "lost", "lost_distractor", "lost_alone")]
    empty = frame["quantity"].isin(names) & frame["value"].isna()
    return frame[~empty].reset_index(drop=True)


def add_classes(job: Job) -> Results:
    """Train the supervised network at growing numbers of classes and measure its lottery."""
    config, training, frames = job.config, job.config["training"], []
    for classes in config["classes"]:
        section = section_of(config["scaling"], config["network"], classes, config["replicates"])
        problem = Problem(f"classes-{classes}", section, job.seed, job.device)
        report = Progress(f"{job.rule}, k = {classes}", training["max_steps"]).report
        done = _fit(problem, training, packed(problem.train, training["parts"]), report=report)
        quantities = {
            "loss": done.loss,
            "steps": done.steps,
            "converged": done.converged,
            "train_accuracy": done.accuracy,
            **lottery(problem, _tests(problem), done.w),
        }
        frame = without_gaps(rows(quantities, model="supervised"))
        frame.insert(0, "classes", classes)
        frame.insert(1, "sigma_0", section["network"]["sigma_0"])
        frames.append(frame)
    return {"classes": joined(*frames)}


def train_longer(job: Job) -> Results:
    """Measure the lottery again and again during one long supervised training."""
    config = job.config["length"]
    scaling, last = config["scaling"], max(config["watched"])
    classes, replicates = scaling["reference_classes"], job.config["replicates"]
    section = section_of(scaling, config["network"], classes, replicates)
    problem, frames = Problem("training-length", section, job.seed, job.device), []
    tests = _tests(problem)

    def look(step: int, w: Tensor) -> None:
        # the time is comparable at other learning rates and numbers of classes
        place = {"step": step, "time": step * config["learning_rate_per_class"]}
        quantities = lottery(problem, tests, w)
        frames.append(without_gaps(rows(quantities, **place, model="supervised")))

    whole = {**config, "tolerance": 0.0, "max_steps": last}
    _fit(problem, whole, packed(problem.train, config["parts"]), watch=look,
         watched=config["watched"], report=Progress(job.rule, last).report)  # fmt: skip
    return {"length": joined(*frames)}


def section_of(
    scaling: Mapping[str, Any], network: Mapping[str, Any], classes: int, replicates: int
) -> dict[str, Any]:
    """A section of an experiment with ``classes`` classes, by the scaling of the theory.

    ``scaling``: of the config; its ``patches`` are room for the features that are present (see
    :func:`featlearn.mrp.data.packed`). ``network``: with ``sigma_0`` as it is at
    ``reference_classes``. It falls like ``k**(-1/(q-2))``: in theory ``sigma_0**(q-2) <= 1/k``.
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
    problem: Problem, recipe: Mapping[str, Any], parts: Sequence[Samples], **more: Any
) -> Fitted:
    """The rate is one a class: of the samples whose mean its gradient is, it has one in k."""
    w = problem.kernels()
    return fit(
        parts, w, problem.blocks(w), problem.activation, tolerance=recipe["tolerance"],
        learning_rate=recipe["learning_rate_per_class"] * problem.spec.classes,
        max_steps=recipe["max_steps"], **more,
    )  # fmt: skip


def _tests(problem: Problem) -> dict[str, Samples]:
    return {name: packed(test)[0] for name, test in problem.tests.items()}


def lottery(problem: Problem, tests: Mapping[str, Samples], w: Tensor) -> dict[str, Tensor]:
    """What supervised kernels hold, and what that makes of the test samples."""
    held = capture(w, problem.features, problem.activation, by_class=True)
    u, captured = problem.blocks(w), held.captured()
    predicted = {name: predict(test, w, u, problem.activation) for name, test in tests.items()}
    return {
        **{f"accuracy_{name}": prediction.accuracy() for name, prediction in predicted.items()},
        "classes_without_feature": (~captured.any(-1)).double().mean(-1),
        "classes_with_all": captured.all(-1).double().mean(-1),
        **held.summary(),
        **causes(tests["single_view"], predicted["single_view"], held),
    }
