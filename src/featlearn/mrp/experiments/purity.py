"""Pre-trained kernels beside the induction hypothesis of the proofs (C.3), in numbers.

For a kernel r in the lottery set of a feature v: (a) on the patches of v its response is
``<w_r, v> z_p`` up to ``o(sigma_0)``; (b) on other feature patches it is at most ``O(sigma_0)``;
(c) on the rest at most ``O(sigma_0 gamma k)``. For a kernel in no set, (d) and (e) say the same of
feature patches and of the rest. (g), (h): correlations of set members are not below, and of all
others not above, the order of ``sigma_0``.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import pandas as pd
import torch
from torch import Tensor

from featlearn.mrp.data import Samples
from featlearn.mrp.experiment import Experiment
from featlearn.mrp.lottery import lottery_sets, memberships, winner_in_set
from featlearn.mrp.measure import capture, capture_rows, replicate_rows
from featlearn.mrp.model import Activation
from featlearn.mrp.train import correlations

if TYPE_CHECKING:
    from featlearn.core.job import Job
    from featlearn.core.outputs import Results


def purity(job: Job) -> Results:
    """Compare pre-trained kernels with the hypothesis: at the start, at ``T_0``, at the end."""
    experiment = Experiment("clean", job.config["clean"], job.seed, job.device)
    pretrained = job.tensors("pretrained")
    moments = {
        "start": experiment.initial_kernels(),
        "capture": pretrained["at_capture"],
        "end": pretrained["w"],
    }
    rows = purity_rows(
        moments,
        experiment.train_samples(),
        experiment.features,
        experiment.activation,
        job.config["purity"]["lottery_constants"],
    )
    return {"purity": pd.DataFrame(rows, columns=PURITY_COLUMNS)}


def induction_quantities(
    samples: Samples, w: Tensor, features: Tensor, sets: Tensor
) -> dict[str, Tensor]:
    """The largest value of each quantity of the hypothesis, not yet divided by its scale.

    A kernel in several lottery sets (the theory presupposes that there is none) counts as a member
    on the patches of each of its features.

    Parameters
    ----------
    samples
        The training samples.
    w : (R, K, d)
    features : (R, k, L, d)
    sets : (R, K, k, L) bool
        Lottery sets of the initial kernels.

    Returns
    -------
    dict
        ``a`` to ``e``, ``g``, ``h``: (R,), all as sizes (``g`` is the largest negative part).
        0 where a group is empty.
    """
    correlation = correlations(w, features)
    rows = [
        _of_one(samples.x[r], samples.owner[r], samples.strength[r], w[r], c.flatten(1), s)
        for r, (c, s) in enumerate(zip(correlation, sets.flatten(2), strict=True))
    ]
    return {name: torch.stack([row[name] for row in rows]) for name in rows[0]}


def _of_one(
    x: Tensor, owner: Tensor, strength: Tensor, w: Tensor, correlation: Tensor, sets: Tensor
) -> dict[str, Tensor]:
    """One replicate: ``x`` (N, P, d), ``owner`` and ``strength`` (N, P), ``correlation`` (K, F)."""
    rows, place = x.flatten(0, 1), owner.flatten()
    response = rows @ w.T  # (N P, K)
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


# --------------------------------------------------------------------------- tidy frame

#: Columns of ``purity/purity.parquet``; ``constant`` is ``C_M`` of the lottery sets, not a number
#: where a quantity does not depend on them.
PURITY_COLUMNS = ("moment", "constant", "replicate", "quantity", "value")


def purity_rows(
    moments: Mapping[str, Tensor],
    samples: Samples,
    features: Tensor,
    activation: Activation,
    constants: Sequence[float],
) -> Iterator[tuple[str, float, int, str, float]]:
    """Purity and the induction hypothesis, at each moment of pre-training.

    Parameters
    ----------
    moments
        Kernels (R, K, d) by name; the first are those of the start, which decide the lottery.
    constants
        Values of ``C_M``.
    """
    initial = correlations(next(iter(moments.values())), features)
    all_sets = {constant: lottery_sets(initial, constant) for constant in constants}
    for moment, w in moments.items():
        found = capture(w, features, activation)
        largest = {"largest_correlation": found.correlation.flatten(1).amax(1)}
        general = itertools.chain(capture_rows(moment, found), replicate_rows(moment, largest))
        for _, replicate, quantity, value in general:
            yield moment, math.nan, replicate, quantity, value
        for constant, sets in all_sets.items():
            quantities = induction_quantities(samples, w, features, sets)
            inside = winner_in_set(found.correlation, sets)
            quantities["winner_in_set"] = inside.flatten(1).double().mean(1)
            member_of = memberships(sets)
            quantities["in_several_sets"] = (member_of > 1).double().mean(1)
            for _, replicate, quantity, value in replicate_rows(moment, quantities):
                yield moment, constant, replicate, quantity, value
