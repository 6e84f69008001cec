"""The headline's models on data with hardly any noise, and the kernels beside the proofs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pandas as pd
import torch
from torch import Tensor

from featlearn.core.evidence.frames import tidy
from featlearn.mrp.data import Problem, Samples
from featlearn.mrp.experiments import headline
from featlearn.mrp.kernels import KINDS, alignment, capture, lottery_sets
from featlearn.mrp.measure import joined, rows
from featlearn.mrp.model import correlations

if TYPE_CHECKING:
    from featlearn.core.run.job import Job
    from featlearn.core.run.outputs import Results


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


def noise(job: Job) -> Results:
    """How far MAE kernels align with the noise of training samples."""
    problem = Problem("clean", job.config, job.seed, job.device)
    return {"noise": noise_frame(problem, job.tensors("pretrained")["w"])}


def noise_frame(problem: Problem, w: Tensor) -> pd.DataFrame:
    """Alignment of trained kernels with the noise of the training samples, by kind of patch."""
    noisy, bare = (
        problem.draw("train-data", problem.config["data"]["train_samples"], noiseless=noiseless)
        for noiseless in (False, True)
    )
    quantities = alignment(w, problem.features, noisy.x - bare.x, noisy, problem.activation.varrho)
    return tidy({"patches": KINDS, "replicate": range(len(w))}, **quantities)


# C.3 of the proofs. For a kernel r in the lottery set of a feature v: (b) on feature patches but
# those of v its response is at most O(sigma_0); (c) on the rest at most O(sigma_0 gamma k). For a
# kernel in no set, (d) and (e) say the same of feature patches and of the rest. (h): correlations
# of all but set members are not above the order of sigma_0.

#: Width C_M of the lottery sets that the proof allows.
WIDE = 1.0


def purity(job: Job) -> Results:
    """Compare pre-trained kernels with the hypothesis, at the start and at the end.

    ``constant`` is ``C_M`` of the lottery sets, NaN where a quantity does not depend on them.
    """
    problem = Problem("clean", job.config, job.seed, job.device)
    start = problem.kernels()
    moments = {"start": start, "end": job.tensors("pretrained")["w"]}
    sets = lottery_sets(correlations(start, problem.features), WIDE)
    frames = []
    for moment, w in moments.items():
        held = capture(w, problem.features, problem.activation).captured()
        captured = {"captured": held.flatten(1).double().mean(1)}
        frames.append(rows(captured, moment=moment, constant=math.nan))
        quantities = induction_quantities(problem.train, w, problem.features, sets)
        frames.append(rows(quantities, moment=moment, constant=WIDE))
    return {"purity": joined(*frames)}


def induction_quantities(
    samples: Samples, w: Tensor, features: Tensor, sets: Tensor
) -> dict[str, Tensor]:
    """The largest value of each quantity of the hypothesis, not yet divided by its scale.

    A kernel in several lottery sets counts as a member on the patches of each of its features.

    ``w`` (R, K, d). ``features`` (R, k, L, d). ``sets`` (R, K, k, L) bool: of the initial kernels.
    Returns a dict: ``b`` to ``e``, ``h``: (R,), all as sizes. 0 where a group is empty.
    """
    each = [
        _of_one(samples.x[r], samples.owner[r], w[r], c.flatten(1), s)
        for r, (c, s) in enumerate(zip(correlations(w, features), sets.flatten(2), strict=True))
    ]
    return {name: torch.stack([one[name] for one in each]) for name in each[0]}


def _of_one(
    x: Tensor, owner: Tensor, w: Tensor, correlation: Tensor, sets: Tensor
) -> dict[str, Tensor]:
    """One replicate: ``x`` (N, P, d), ``owner`` (N, P), ``correlation`` and ``sets`` (K, F)."""
    patches, place = x.flatten(0, 1), owner.flatten()
    response = patches @ w.T  # (N P, K)
    on_feature = (place >= 0).unsqueeze(-1)
    member = sets.T[place.clamp_min(0)] & on_feature
    in_a_set = sets.any(1)

    def largest(value: Tensor, where: Tensor) -> Tensor:
        return torch.where(where, value.abs(), 0.0).max()

    return {
        "b": largest(response, on_feature & in_a_set & ~member),
        "c": largest(response, ~on_feature & in_a_set),
        "d": largest(response, on_feature & ~in_a_set),
        "e": largest(response, ~on_feature & ~in_a_set),
        "h": torch.where(sets, 0.0, correlation).max().clamp_min(0),
    }
