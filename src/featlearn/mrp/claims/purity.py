"""What Theorem 1 and its induction hypothesis say of pre-trained kernels (T7, C.3 a-h), MAE.

Bands rest on the theory and on one pilot run of ten replicates with another seed. The hypothesis
bounds sizes by orders such as ``O~(sigma_0)``. What a run can check without choosing constants is
that they do not grow: at the start they are of that order by definition.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from featlearn.core.claims import OBSERVATION, POSITIVE, SHARE, THEOREM, Claim, Measure
from featlearn.core.stats import per_replicate
from featlearn.mrp.claims.clean import FEW_DIMENSIONS, few_dimensions, too_small

ARTEFACT = "mrp/measurements/purity/purity.parquet"
#: Widths of the lottery sets: one that the proof allows, and one that gives sets of few kernels.
WIDE, NARROW = 1.0, 0.25

Frames = Mapping[str, pd.DataFrame]


def values(frames: Frames, moment: str, quantity: str, constant: float | None = None) -> np.ndarray:
    """One number a replicate, in their order."""
    return per_replicate(frames["purity"], moment=moment, quantity=quantity, constant=constant)


#: What a replicate counts that captured nothing or not all: above every band of the hypothesis.
NOT_TRAINED = 10.0
#: Why kernels that do not train no longer pass.
MUST_CAPTURE = (
    "That the kernels must have captured is of a review: upper bounds were met by kernels that "
    "do not train. The numbers were known."
)


def where_captured(measure: Measure) -> Measure:
    """:data:`NOT_TRAINED` for a replicate that did not capture all features by the end."""
    return lambda frames: np.where(
        values(frames, "end", "captured") >= 0.995, measure(frames), NOT_TRAINED
    )


def _grown(quantity: str, constant: float) -> Measure:
    """Its value at the end over that at the start; 0 where no kernel is of that kind."""

    def measure(frames: Frames) -> np.ndarray:
        start = values(frames, "start", quantity, constant)
        end = values(frames, "end", quantity, constant)
        return np.divide(end, start, out=np.zeros_like(end), where=start > 0)

    return measure


def _off_diagonal(moment: str) -> Measure:
    return lambda frames: (
        values(frames, moment, "largest_off_diagonal")
        / values(frames, "start", "largest_correlation")
    )


def _claim(name: str, kind: str, **parts: Any) -> Claim:
    return Claim(f"mrp/{name}", kind, **{"artefact": ARTEFACT, "out_of_reach": too_small, **parts})


def _hypothesis(letter: str, statement: str, largest: str, **parts: Any) -> Claim:
    known = {
        "source": f"Induction hypothesis C.3 ({letter}), MAE",
        "statement": statement,
        "quantity": f"{largest}, at the end over at the start (C_M = {WIDE:g})",
        "low": 0.0,
        "high": 1.5,
        "possible": POSITIVE,
        "reason": "Of the stated order at the start by definition, so it must not grow; half is "
        "left for fluctuations of a largest value.",
        "measure": _grown(letter, WIDE),
        "changed": MUST_CAPTURE,
        **parts,
    }
    known["quantity"] += f"; {NOT_TRAINED:g} where a feature is not captured"
    known["measure"] = where_captured(known["measure"])
    return _claim(f"c3-{letter}-mae", THEOREM, **known)


CLAIMS: tuple[Claim, ...] = (
    _claim(
        "t7-pure-at-capture",
        THEOREM,
        source="Theorem 1(b), (c), part 2 (MAE)",
        statement="No kernel holds two features when the last feature is captured.",
        quantity="share of winning kernels that hold more than one feature, at T_0",
        low=0.0,
        high=0.01,
        possible=SHARE,
        reason="The theorem says none; one in a hundred is allowed, as kernels are finitely many.",
        measure=lambda frames: (
            values(frames, "capture", "impure_winners") / values(frames, "capture", "winners")
        ),
    ),
    _claim(
        "t7-off-diagonal-at-capture",
        THEOREM,
        source="Theorem 1(b), part 2 (MAE); Lemma H.11",
        statement="At T_0 a winner's correlations with other features are of the order sigma_0.",
        quantity="largest off-diagonal correlation of a winner over the largest initial one",
        low=0.0,
        high=1.0,
        possible=POSITIVE,
        reason="The largest initial correlation is of that order by definition.",
        measure=_off_diagonal("capture"),
    ),
    _claim(
        "t7-off-diagonal-decays",
        OBSERVATION,
        source="Theorem 1(b), part 2 (MAE), sharper (ours)",
        statement="After capture the off-diagonal correlations die out: reconstruction "
        "decorrelates the kernels.",
        quantity="largest off-diagonal correlation of a winner at the end, over the largest "
        "initial one",
        low=0.0,
        high=0.2,
        possible=POSITIVE,
        reason="A patch of another feature pulls the correlation down at a constant rate; what is "
        "left is of the order of gamma. The pilot gave 0.02.",
        measure=_off_diagonal("end"),
    ),
    _claim(
        "t7-winner-in-wide-set",
        THEOREM,
        source="Theorem 1(a), part 2 (MAE)",
        statement="The winner of a feature comes from its lottery set, with C_M = 1.",
        quantity="share of features whose winner was in the set",
        low=0.995,
        high=1.0,
        possible=SHARE,
        reason="The theorem says all; one step of the proof wants C_M above 1.",
        measure=lambda frames: values(frames, "end", "winner_in_set", WIDE),
    ),
    _claim(
        "t7-winner-in-narrow-set",
        OBSERVATION,
        source="Theorem 1(a), part 2 (MAE), with the smaller C_M of this report",
        statement="With C_M = 0.25 most, not all, winners come from the set.",
        quantity="share of features whose winner was in the set",
        low=0.75,
        high=0.98,
        possible=SHARE,
        reason="A kernel 15 % behind at the start may still win, for it also feels the other "
        "features; pilots gave 0.80-0.95 a replicate.",
        measure=lambda frames: values(frames, "end", "winner_in_set", NARROW),
    ),
    _hypothesis(
        "a",
        "On the patches of its feature a set member answers with Lambda z, up to o(sigma_0).",
        "largest deviation",
        quantity="largest deviation at the end over the largest initial correlation (C_M = 1)",
        high=0.3,
        reason="o(sigma_0), read as clearly below the largest initial correlation; the pilot "
        "gave 0.13.",
        measure=lambda frames: (
            values(frames, "end", "a", WIDE) / values(frames, "start", "largest_correlation")
        ),
    ),
    _hypothesis(
        "b",
        "On patches of other features a set member's response stays of the order sigma_0.",
        "largest response",
    ),
    _hypothesis(
        "c",
        "On background patches a set member's response stays of the order sigma_0 gamma k.",
        "largest response",
        out_of_reach=few_dimensions,
        changed=MUST_CAPTURE + " " + FEW_DIMENSIONS,
    ),
    _hypothesis(
        "d",
        "On feature patches the response of a kernel in no set stays of the order sigma_0.",
        "largest response",
    ),
    _hypothesis(
        "e",
        "On background patches the response of a kernel in no set stays of the order sigma_0 "
        "gamma k.",
        "largest response",
    ),
    _hypothesis(
        "g",
        "A set member's correlation with its feature has not turned clearly negative, neither "
        "at T_0 nor at the end.",
        "largest negative part",
        quantity="largest negative part, at T_0 or at the end, over the largest initial "
        "correlation (C_M = 1)",
        high=1.0,
        reason="Not below -O~(sigma_0), the order of the largest initial correlation.",
        changed=MUST_CAPTURE + " The end alone was looked at, and told as `never`.",
        measure=lambda frames: (
            np.maximum(*(values(frames, moment, "g", WIDE) for moment in ("capture", "end")))
            / values(frames, "start", "largest_correlation")
        ),
    ),
    _hypothesis(
        "h",
        "The correlation of a kernel outside a feature's set stays of the order sigma_0.",
        "largest correlation",
    ),
    _claim(
        "c3-needs-wide-sets",
        OBSERVATION,
        source="Induction hypothesis C.3 (h), MAE, with a smaller C_M (ours)",
        statement="The hypothesis needs wide sets: with C_M = 0.25 some kernel outside wins.",
        quantity="largest correlation of a non-member, at the end over at the start (C_M = 0.25)",
        low=5.0,
        high=math.inf,
        possible=POSITIVE,
        statistic="median",
        changed="A median since a run had left the mean undecided: tails are heavy.",
        reason="A winner outside its set ends near 0.8, from at most 0.05 at the start.",
        measure=_grown("h", NARROW),
    ),
)
