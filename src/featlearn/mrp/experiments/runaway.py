"""The runaway of mixed kernels: teacher-student training continued beyond capture.

All schedules of the teacher factor start from the same kernels. For one of them the kernel that
ends largest is followed alone, with its pushes taken apart (kernels do not interact).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd
import torch
from torch import Tensor

from featlearn.mrp.cross_term import follow, runaway_rate
from featlearn.mrp.data import Samples
from featlearn.mrp.experiment import Experiment
from featlearn.mrp.gradients import TeacherFactor
from featlearn.mrp.measure import EVALUATION_COLUMNS, EvaluationRow, replicate_rows
from featlearn.mrp.purity import Watch, at_step, impure_share, purity_history
from featlearn.mrp.teacher_student import teacher_student
from featlearn.mrp.train import Pretrained, correlations

if TYPE_CHECKING:
    from featlearn.core.job import Job
    from featlearn.core.outputs import Results

#: The rate of a runaway is measured while the kernel's size is between these.
RATE_WINDOW = (20.0, 600.0)
#: Columns of ``pair.parquet``: the first two features that a kernel captures, and what pushes it.
PAIR_COLUMNS = ("replicate", "step", "place", "class", "view", "correlation", "own", "cross")


def runaway(job: Job) -> Results:
    """Train beyond capture under every schedule of the teacher factor."""
    experiment = Experiment("runaway", job.config, job.seed, job.device)
    samples = experiment.train_samples()
    options = dict(job.config["pretraining"])
    schedules, followed = options.pop("schedules"), options.pop("followed")
    histories, pairs = [], pd.DataFrame()
    outcome: list[EvaluationRow] = []
    for schedule in schedules:
        done = beyond_capture(experiment, samples, schedule, options)
        histories.append(history(done, schedule))
        outcome += outcome_rows(done, schedule, job.config["network"]["sigma_0"])
        if schedule == followed:
            pairs, seen = follow_largest(experiment, samples, done, schedule, options)
            outcome += seen
    return {
        "history": pd.concat(histories, ignore_index=True),
        "outcome": pd.DataFrame(outcome, columns=EVALUATION_COLUMNS),
        "pair": pairs,
    }


def beyond_capture(
    experiment: Experiment, samples: Samples, schedule: str, options: Mapping[str, Any]
) -> Pretrained:
    """Train on after capture, until a kernel overflows or the steps are used up."""
    return teacher_student(
        experiment,
        samples.x,
        experiment.initial_kernels(),
        schedule=schedule,
        may_diverge=True,
        hit_factor=float("inf"),
        observe=Watch(experiment.activation.varrho),
        **options,
    )


def history(done: Pretrained, schedule: str) -> pd.DataFrame:
    """What kernels hold over time, up to each replicate's own end."""
    strength = done.trace.stacked("strength").flatten(2)
    frame = purity_history(done.trace).assign(
        weakest=strength.amin(-1).flatten().numpy(), schedule=schedule
    )
    ends = dict(enumerate(done.stopped.tolist()))
    return frame[frame["step"] <= frame["replicate"].map(ends)].reset_index(drop=True)


def outcome_rows(done: Pretrained, schedule: str, sigma_0: float) -> Iterator[EvaluationRow]:
    """When features were captured, what the kernels were like then, and how it ended."""
    trace, hit = done.trace, done.hit.flatten(1)
    strength = trace.stacked("strength").flatten(2)
    yield from replicate_rows(
        schedule,
        {
            "captured": (hit >= 0).double().mean(1),
            "finite": 1 - done.diverged.double(),
            "stopped": done.stopped,
            "growth_of_features": (strength[-1] / strength[0]).mean(1),
        },
    )
    if (hit < 0).any():
        return
    first, last = hit.amin(1), hit.amax(1)
    off = trace.stacked("off_diagonal").flatten(2).amax(-1) / sigma_0
    counts = {
        name: at_step(trace.stacked(name), trace.steps, last)
        for name in ("winners", "impure", "sibling", "cross", "largest")
    }
    yield from replicate_rows(
        schedule,
        {
            "first_capture": first,
            "last_capture": last,
            "off_diagonal_at_first_capture": at_step(off, trace.steps, first),
            "off_diagonal_at_last_capture": at_step(off, trace.steps, last),
            "impure_share_at_last_capture": impure_share(counts),
            **{f"{name}_at_last_capture": value for name, value in counts.items()},
        },
    )


def largest_kernel(experiment: Experiment, done: Pretrained) -> Tensor:
    """Initial vector (R, 1, d) of the kernel that ends with the largest correlation."""
    best = correlations(done.w, experiment.features).flatten(2).amax(-1).argmax(1)
    return experiment.initial_kernels()[torch.arange(best.numel()), best].unsqueeze(1)


def follow_largest(
    experiment: Experiment,
    samples: Samples,
    done: Pretrained,
    schedule: str,
    options: Mapping[str, Any],
) -> tuple[pd.DataFrame, list[EvaluationRow]]:
    """Follow the kernel that ends largest, its first two features, and the pushes on them.

    Returns
    -------
    DataFrame, list
        ``pair.parquet`` (a row a replicate, step and feature) and rows of the outcome: whether the
        cross push exceeded the own one when the first feature was captured, the ratio, the number
        of features held at the end, and the rate of growth, measured and by the closed form.
    """
    activation = experiment.activation
    room, theta = experiment.spec.patches_per_feature, options["theta"]
    trace = follow(
        samples,
        experiment.features,
        largest_kernel(experiment, done),
        activation,
        TeacherFactor(theta, room, schedule, activation.q),
        learning_rate=options["learning_rate"],
        steps=int(done.stopped.max()),
    )
    a, own, cross = (trace.stacked(name)[:, :, 0] for name in ("correlation", "own", "cross"))
    rate = runaway_rate(samples, a, theta, room)
    size = a.clamp_min(0).norm(dim=-1)
    views = experiment.spec.features_per_class
    frames, seen = [], []
    for r, end in enumerate(done.stopped.tolist()):
        reached = (a[:, r] >= activation.varrho).int()
        when = torch.where(reached.any(0), reached.argmax(0), len(a))
        pair = when.argsort(stable=True)[:2].tolist()
        capture = int(when[pair[0]])
        for place, feature in zip(("first", "second"), pair, strict=True):
            line = {
                "replicate": r,
                "step": trace.steps[: end + 1],
                "place": place,
                "class": feature // views,
                "view": feature % views,
                "correlation": a[: end + 1, r, feature].numpy(),
                "own": own[: end + 1, r, feature].numpy(),
                "cross": cross[: end + 1, r, feature].numpy(),
            }
            frames.append(pd.DataFrame(line)[list(PAIR_COLUMNS)])
        ratio = float(cross[capture, r, pair[1]] / own[capture, r, pair[1]])
        last = min(end, len(a) - 1)
        start, stop = (int((size[:, r] < bound).sum()) for bound in RATE_WINDOW)
        quantities = {
            "cross_over_own": ratio,
            "cross_exceeds_own": float(ratio > 1),
            "features_held": float((a[last, r] >= activation.varrho).sum()),
        }
        if start < stop < len(a):
            steps = stop - start
            growth = float(torch.log(size[stop, r] / size[start, r]))
            quantities["rate_measured"] = growth / steps / options["learning_rate"]
            quantities["rate_formula"] = float(rate[start:stop, r].mean())
        seen += [(schedule, r, name, value) for name, value in quantities.items()]
    return pd.concat(frames, ignore_index=True), seen
