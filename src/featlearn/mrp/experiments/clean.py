"""On data with hardly any noise: the headline's models, and the kernels beside the proofs.

A linear classifier solves these data; the steps of the proofs are checked on them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd
import torch
from torch import Tensor

from featlearn.core.frames import tidy
from featlearn.core.seeds import Streams
from featlearn.mrp.data import Problem, Samples
from featlearn.mrp.experiments import headline
from featlearn.mrp.gradients import encode_in_blocks, teacher_factor
from featlearn.mrp.kernels import (
    KINDS,
    Capture,
    alignment,
    capture,
    lottery_sets,
    memberships,
    winner_in_set,
)
from featlearn.mrp.measure import head, joined, rows
from featlearn.mrp.model import correlations, initial_kernels
from featlearn.mrp.train import pretrain as train_encoder

if TYPE_CHECKING:
    from featlearn.core.job import Job
    from featlearn.core.outputs import Results


def pretrain(job: Job) -> Results:
    """Pre-train encoders by mask reconstruction."""
    return {"weights": headline.encoder_weights(headline.encoders(job, "clean"))}


def supervise(job: Job) -> Results:
    """Train the supervised network of Lemma 1 from the same initial kernels."""
    done = headline.supervised(job, "clean")
    return {"weights": {"w": done.w, "u": done.u}}


def downstream(job: Job) -> Results:
    """Fine-tune the pre-trained kernels under a new linear head."""
    done = headline.finetuned(job, "clean")
    return {"weights": {"w": done.w, "u": done.u}}


def evaluate(job: Job) -> Results:
    """Measure all models on fresh samples."""
    return {"evaluation": headline.measured(job, "clean")[0]}


# --------------------------------------------------------------------------- noise


def noise(job: Job) -> Results:
    """How far MAE kernels align with the noise of training and of fresh samples."""
    problem = Problem("clean", job.config, job.seed, job.device)
    return {"noise": noise_frame(problem, job.tensors("pretrained")["w"])}


def noise_frame(problem: Problem, w: Tensor) -> pd.DataFrame:
    """Alignment of initial kernels and of trained ones, ``w``, over kernels and patches."""
    data, frames = problem.config["data"], []
    samples = {
        which: [problem.draw(purpose, data[count], single_view=view, noiseless=bare)
                for bare in (False, True)]
        for which, purpose, count, view in (
            ("training", "train-data", "train_samples", None),
            ("fresh", "test-multi-view", "test_samples", False),
        )
    }  # fmt: skip
    for when, kernels in {"before": problem.kernels(), "after": w}.items():
        for which, (noisy, bare) in samples.items():
            xi = noisy.x - bare.x
            quantities = alignment(kernels, problem.features, xi, noisy, problem.activation.varrho)
            axes = {"when": [when], "samples": [which], "patches": KINDS,
                    "replicate": range(len(w))}  # fmt: skip
            frames.append(
                tidy(axes, **{name: value[None, None] for name, value in quantities.items()})
            )
    return joined(*frames)


# --------------------------------------------------------------------------- induction hypothesis
# C.3 of the proofs. For a kernel r in the lottery set of a feature v: (a) on the patches of v its
# response is <w_r, v> z_p up to o(sigma_0); (b) on other feature patches it is at most O(sigma_0);
# (c) on the rest at most O(sigma_0 gamma k). For a kernel in no set, (d) and (e) say the same of
# feature patches and of the rest. (g), (h): correlations of set members are not below, and of all
# others not above, the order of sigma_0.


def purity(job: Job) -> Results:
    """Compare pre-trained kernels with the hypothesis: at the start, at ``T_0``, at the end.

    ``constant`` is ``C_M`` of the lottery sets, NaN where a quantity does not depend on them.
    """
    problem = Problem("clean", job.config["clean"], job.seed, job.device)
    pretrained = job.tensors("pretrained")
    start = problem.kernels()
    moments = {"start": start, "capture": pretrained["at_capture"], "end": pretrained["w"]}
    initial = correlations(start, problem.features)
    sets_of = {c: lottery_sets(initial, c) for c in job.config["purity"]["lottery_constants"]}
    frames = []
    for moment, w in moments.items():
        held = capture(w, problem.features, problem.activation)
        largest = held.correlation.flatten(1).amax(1)
        quantities = {**held.summary(), "largest_correlation": largest}
        frames.append(rows(quantities, moment=moment, constant=math.nan))
        for constant, sets in sets_of.items():
            inside = winner_in_set(held.correlation, sets)
            quantities = {
                **induction_quantities(problem.train, w, problem.features, sets),
                "winner_in_set": inside.flatten(1).double().mean(1),
                "in_several_sets": (memberships(sets) > 1).double().mean(1),
            }
            frames.append(rows(quantities, moment=moment, constant=constant))
    return {"purity": joined(*frames)}


def induction_quantities(
    samples: Samples, w: Tensor, features: Tensor, sets: Tensor
) -> dict[str, Tensor]:
    """The largest value of each quantity of the hypothesis, not yet divided by its scale.

    A kernel in several lottery sets (the theory presupposes that there is none) counts as a member
    on the patches of each of its features.

    ``samples``: the training samples. ``w`` (R, K, d). ``features`` (R, k, L, d). ``sets`` (R, K,
    k, L) bool: lottery sets of the initial kernels. Returns a dict: ``a`` to ``e``, ``g``, ``h``:
    (R,), all as sizes (``g`` is the largest negative part). 0 where a group is empty.
    """
    each = [
        _of_one(samples.x[r], samples.owner[r], samples.strength[r], w[r], c.flatten(1), s)
        for r, (c, s) in enumerate(zip(correlations(w, features), sets.flatten(2), strict=True))
    ]
    return {name: torch.stack([one[name] for one in each]) for name in each[0]}


def _of_one(
    x: Tensor, owner: Tensor, strength: Tensor, w: Tensor, correlation: Tensor, sets: Tensor
) -> dict[str, Tensor]:
    """One replicate: ``x`` (N, P, d), ``owner`` and ``strength`` (N, P), ``correlation`` (K, F)."""
    patches, place = x.flatten(0, 1), owner.flatten()
    response = patches @ w.T  # (N P, K)
    on_feature = (place >= 0).unsqueeze(-1)
    feature = place.clamp_min(0)
    member = sets.T[feature] & on_feature
    in_a_set = sets.any(1)
    expected = correlation.T[feature] * strength.flatten().unsqueeze(-1)

    def largest(value: Tensor, where: Tensor) -> Tensor:
        return torch.where(where, value.abs(), 0.0).max()

    return {
        "a": largest(response - expected, member),
        "b": largest(response, on_feature & in_a_set & ~member),
        "c": largest(response, ~on_feature & in_a_set),
        "d": largest(response, on_feature & ~in_a_set),
        "e": largest(response, ~on_feature & ~in_a_set),
        "g": torch.where(sets, -correlation, 0.0).max().clamp_min(0),
        "h": torch.where(sets, 0.0, correlation).max().clamp_min(0),
    }


# --------------------------------------------------------------------------- a fixed teacher


def inherit(job: Job) -> Results:
    """Train students of the finished MAE encoders: the discussion of BEiT, not run in the paper.

    The teacher is amplified by the teacher factor. The student starts from random kernels, and each
    must match the teacher kernel of the same index.
    """
    options: Mapping[str, Any] = job.config["fixed_teacher"]
    problem = Problem("clean", job.config["clean"], job.seed, job.device)
    spec, activation, training = problem.spec, problem.activation, options["pretraining"]
    teacher = job.tensors("teacher")["w"]
    # random kernels from streams of their own
    streams = Streams(job.seed, "mrp", "fixed-teacher", range(problem.replicates))
    start = initial_kernels(
        teacher.shape[1], spec.dimension, options["sigma_0"], streams("student")
    ).to(job.device)
    tau = teacher_factor("constant", 0, training["theta"], spec.patches_per_feature, activation.q)
    student = train_encoder(
        problem.train.x, problem.features, start, activation, **training, hit_factor=math.inf,
        target=encode_in_blocks(problem.train.x, tau * teacher, activation),
    ).w  # fmt: skip
    before, began, after = (correlations(w, problem.features) for w in (teacher, start, student))
    return {
        "evaluation": joined(
            rows(Capture(before, activation.varrho).purity(), model="teacher"),
            rows(Capture(after, activation.varrho).purity(), model="student"),
            rows(inherited(before, began, after, activation.varrho), model="student"),
            rows(head(problem, teacher), model="teacher"),
            rows(head(problem, student), model="student"),
        )
    }


def inherited(teacher: Tensor, start: Tensor, student: Tensor, varrho: float) -> dict[str, Tensor]:
    """Share of the teacher's captured (kernel, feature) pairs that the student holds too.

    Of correlations (R, K, k, L). ``inherited_if_positive`` counts only the pairs whose student
    kernel started with a positive correlation, ``inherited_if_negative`` the others.
    """
    pairs, held = teacher >= varrho, student >= varrho

    def share(of: Tensor) -> Tensor:
        return (held & of).flatten(1).sum(1) / of.flatten(1).sum(1).clamp_min(1)

    return {
        "inherited": share(pairs),
        "inherited_if_positive": share(pairs & (start > 0)),
        "inherited_if_negative": share(pairs & (start <= 0)),
    }
