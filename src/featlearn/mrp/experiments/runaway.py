"""The runaway of mixed kernels: teacher-student training continued beyond capture.

The student's error ``Phi_r(X)`` is one number a sample. A kernel that holds ``v`` and meets a
sample with ``v`` and ``v'`` applies the whole of it to the patches of ``v'`` too, so that its push
along ``v'`` is that of ``v'`` itself plus ``Phi`` from the patches of ``v``: the *cross term*,
which Claim E.4(b) leaves out. Once two features that occur together sit in one kernel, each feeds
the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd
import torch
from torch import Tensor

from featlearn.mrp.data import Problem, Samples
from featlearn.mrp.gradients import teacher_factor, teacher_student_descent
from featlearn.mrp.kernels import Capture, impure_share
from featlearn.mrp.measure import joined, rows
from featlearn.mrp.model import Activation, correlations, smoothed_relu, smoothed_relu_slope
from featlearn.mrp.train import OVERFLOW, Observe, Pretrained, Trace, pretrain

if TYPE_CHECKING:
    from featlearn.core.run.job import Job
    from featlearn.core.run.outputs import Results

#: The teacher factor of the main text.
SCHEDULE = "main"
#: The rate of a runaway is measured while the kernel's size is between these.
RATE_WINDOW = (20.0, 600.0)


def runaway(job: Job) -> Results:
    """Train beyond capture, until a kernel overflows or the steps are used up.

    ``pair``: the first two features that a kernel captures, and what pushes it.
    """
    problem = Problem("runaway", job.config, job.seed, job.device)
    options = dict(job.config["pretraining"])
    options["patches_per_feature"] = problem.spec.patches_per_feature
    done = pretrain(
        problem.train.x, problem.features, problem.kernels(), problem.activation, **options,
        schedule=SCHEDULE, may_diverge=True, hit_factor=float("inf"),
        observe=watch(problem.activation.varrho),
    )  # fmt: skip
    pair, rates = follow_largest(problem, done, options)
    outcome = outcomes(done, job.config["network"]["sigma_0"])
    return {"outcome": joined(rows(outcome, model=SCHEDULE), rates), "pair": pair}


def watch(varrho: float) -> Observe:
    """What pre-training writes down beside ``Lambda``: ``off_diagonal`` (R, k, L), and counts."""

    def observe(w: Tensor, features: Tensor) -> dict[str, Tensor]:
        held = Capture(correlations(w, features), varrho)
        counts = held.counts()
        return {"off_diagonal": held.second_best(),
                "impure_share": impure_share(counts["impure"], counts["winners"])}  # fmt: skip

    return observe


def outcomes(done: Pretrained, sigma_0: float) -> dict[str, Tensor]:
    """How it ended; and the kernels at the last capture, if all features were captured."""
    trace, hit = done.trace, done.hit.flatten(1)
    ended = {"finite": 1 - done.diverged.double()}
    if (hit < 0).any():
        return ended
    off = trace["off_diagonal"].flatten(2).amax(-1) / sigma_0
    at_last = {"off_diagonal": off, "impure_share": trace["impure_share"]}
    return ended | {
        f"{name}_at_last_capture": at_step(value, trace.steps, hit.amax(1))
        for name, value in at_last.items()
    }


def at_step(recorded: Tensor, steps: list[int], chosen: Tensor) -> Tensor:
    """Each replicate's last record (steps, R, ...) at or before its own step ``chosen`` (R,)."""
    row = torch.searchsorted(torch.tensor(steps), chosen.cpu(), right=True) - 1
    return recorded[row, torch.arange(chosen.numel())]


def follow_largest(
    problem: Problem, done: Pretrained, options: Mapping[str, Any]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Follow the kernel that ends largest, its first two features, and the pushes on them.

    It is trained alone: kernels do not interact, so it takes the path that it takes among all.

    Returns ``pair.parquet`` (a row a replicate, step and feature) and rows of the outcome: the rate
    of growth, measured and by the closed form.
    """
    varrho, views = problem.activation.varrho, problem.spec.features_per_class
    largest = correlations(done.w, problem.features).flatten(2).amax(-1).argmax(1)
    start = problem.kernels()[torch.arange(largest.numel()), largest].unsqueeze(1)
    room, theta, rate = (
        options[name] for name in ("patches_per_feature", "theta", "learning_rate")
    )
    trace = follow(
        problem.train, problem.features, start, problem.activation, theta=theta, schedule=SCHEDULE,
        patches_per_feature=room, learning_rate=rate, steps=int(done.stopped.max()),
    )  # fmt: skip
    a, own, cross = (trace[name][:, :, 0] for name in ("correlation", "own", "cross"))
    closed_form = runaway_rate(problem.train, a, theta, room)
    size = a.clamp_min(0).norm(dim=-1)
    frames, measured = [], []
    for r, end in enumerate(done.stopped.tolist()):
        reached = (a[:, r] >= varrho).int()
        when = torch.where(reached.any(0), reached.argmax(0), len(a))
        pair = when.argsort(stable=True)[:2].tolist()
        for place, feature in zip(("first", "second"), pair, strict=True):
            values = {"correlation": a, "own": own, "cross": cross}
            line = {
                "replicate": r,
                "step": trace.steps[: end + 1],
                "place": place,
                "class": feature // views,
                "view": feature % views,
                **{name: value[: end + 1, r, feature].numpy() for name, value in values.items()},
            }
            frames.append(pd.DataFrame(line))
        begin, stop = (int((size[:, r] < bound).sum()) for bound in RATE_WINDOW)
        if begin < stop < len(a):
            growth = float(torch.log(size[stop, r] / size[begin, r]))
            formula = float(closed_form[begin:stop, r].mean())
            measured += [(SCHEDULE, r, "rate_measured", growth / (stop - begin) / rate),
                         (SCHEDULE, r, "rate_formula", formula)]  # fmt: skip
    columns = ["model", "replicate", "quantity", "value"]
    return joined(*frames), pd.DataFrame(measured, columns=columns)


class Push(NamedTuple):
    """The negative gradient along each feature, from that feature's own patches, in two parts."""

    own: Tensor  #: (R, K, k * L), through the error of those patches, and the mask variance
    cross: Tensor  #: (R, K, k * L), through the error that all other patches cause


def pushes(
    x: Tensor,
    owner: Tensor,
    features: Tensor,
    w: Tensor,
    activation: Activation,
    *,
    theta: float,
    tau: float,
) -> Push:
    """Take the push along each feature apart.

    ``x`` (R, N, P, d). ``owner`` (R, N, P): flat index of the feature on each patch, -1 for none;
    see ``Samples``. ``features`` (R, k, L, d). ``w`` (R, K, d).
    """
    replicates, samples, patches, dimension = x.shape
    flat = features.reshape(replicates, -1, dimension)
    rows = x.reshape(replicates, samples * patches, dimension)
    shape = (replicates, samples, patches, -1)
    u = torch.bmm(rows, w.transpose(1, 2))
    q, varrho = activation.q, activation.varrho
    s = smoothed_relu(u, q, varrho).view(shape)
    slope = smoothed_relu_slope(u, q, varrho).view(shape)
    error = smoothed_relu(tau * u, q, varrho).view(shape) - s
    along = torch.bmm(rows, flat.transpose(1, 2)).view(shape)  # <x_p, v>
    on = torch.nn.functional.one_hot(owner + 1, flat.shape[1] + 1)[..., 1:].to(x.dtype)

    def per_feature(of_patch: Tensor, weight: Tensor) -> Tensor:  # sums over P_v: (R, N, K, k L)
        return torch.einsum("rnpk,rnpv->rnkv", of_patch, weight)

    from_own = per_feature(error, on)
    reach = per_feature(slope, on * along)
    variance = (1 / theta - 1) * per_feature(s * slope, on * along)
    from_others = error.sum(2).unsqueeze(-1) - from_own
    return Push((from_own * reach - variance).mean(1), (from_others * reach).mean(1))


def follow(
    samples: Samples,
    features: Tensor,
    w: Tensor,
    activation: Activation,
    *,
    theta: float,
    schedule: str,
    patches_per_feature: int,
    learning_rate: float,
    steps: int,
) -> Trace:
    """Train kernels ``w`` (R, K, d) by teacher-student descent and write down every step.

    A replicate of which a kernel passes ``OVERFLOW`` stands still. Returns Trace: ``correlation``,
    ``own``, ``cross``, each (steps + 1, R, K, k * L).
    """
    trace = Trace()
    for step in range(steps + 1):
        tau = float(teacher_factor(schedule, step, theta, patches_per_feature, activation.q))
        push = pushes(samples.x, samples.owner, features, w, activation, theta=theta, tau=tau)
        here = correlations(w, features).flatten(2)
        trace.add(step, correlation=here, own=push.own, cross=push.cross)
        following = w + learning_rate * teacher_student_descent(
            samples.x, w, theta, activation, tau=tau
        )
        within = following.abs().amax((1, 2), keepdim=True) < OVERFLOW
        if not within.any():
            break
        w = torch.where(within, following, w)
    return trace


def runaway_rate(
    samples: Samples, correlation: Tensor, theta: float, patches_per_feature: int
) -> Tensor:
    """Rate at which kernels with several features grow: ``d log |a| / d (eta t)`` (..., R).

    Once every feature ``v`` with ``a_v = <w, v> > 0`` responds linearly and ``delta_t`` is small,
    teacher factor and mask variance cancel on the patches of one feature (equal split). What is
    left has no brake: ``d a_v / dt = (1/theta - 1) / C_p * sum_{v' != v} E[Z_v Z_v'] a_v'``.

    ``samples``: r replicates. ``correlation`` (..., R, k * L): ``a`` of one kernel a replicate.
    """
    z = samples.total.flatten(2).to(correlation)
    together = z.transpose(1, 2) @ z / z.shape[1]
    together = together - torch.diag_embed(together.diagonal(dim1=1, dim2=2))
    a = correlation.clamp_min(0)
    push = torch.einsum("...rv,rvu->...ru", a, together)
    factor = (1 / theta - 1) / patches_per_feature
    return factor * (a * push).sum(-1) / (a * a).sum(-1)
