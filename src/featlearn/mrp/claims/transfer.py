"""What the paper's discussion says about transfer (T19), with bands fixed before measuring.

The paper runs no transfer experiment. Bands rest on its argument and on pilot runs with other
random streams (four, six and ten replicates). The rate of fine-tuning is chosen for each replicate
on the others.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from featlearn.core.claims import (
    DIFFERENCE_OF_SHARES,
    OBSERVATION,
    SHARE,
    THEOREM,
    Claim,
    Measure,
    first_of,
    needs,
)
from featlearn.core.stats import per_replicate
from featlearn.mrp.claims.clean import too_small
from featlearn.mrp.tables.transfer import CRITERIA, reported

ARTEFACT = "mrp/measurements/transfer/accuracy.parquet"
SAME, FEWER, MORE, OVERLAP = (
    "1-same-features",
    "2a-fewer-features",
    "2b-more-features",
    "3-overlap",
)

Frames = Mapping[str, pd.DataFrame]
REACH = first_of(
    too_small,
    needs(
        transfer__finetuning__steps=100,
        transfer__supervised__steps=250,
        transfer__continued__max_steps=2000,
    ),
)


def _read(case: str, recipe: str, classes: str, quantity: str = "accuracy_single_view") -> Measure:
    return lambda frames: per_replicate(
        reported(frames["accuracy"]), case=case, recipe=recipe, classes=classes, quantity=quantity
    )


def _minus(first: Measure, second: Measure) -> Measure:
    """Paired over replicates."""
    return lambda frames: first(frames) - second(frames)


def _both_kinds(case: str, recipe: str) -> Measure:
    """Accuracy on all classes, the mean over multi-view and single-view data."""
    return lambda frames: np.mean(
        [_read(case, recipe, "all", quantity)(frames) for quantity in CRITERIA], axis=0
    )


def _at_rate(case: str, which: str, classes: str, quantity: str) -> Measure:
    """Of the network fine-tuned at the ``smallest`` or the ``largest`` encoder rate tried."""

    def measure(frames: Frames) -> np.ndarray:
        accuracy = frames["accuracy"]
        tuned = accuracy[accuracy["recipe"] == "finetuned"]
        rate = tuned["encoder_rate"].min() if which == "smallest" else tuned["encoder_rate"].max()
        own = tuned[tuned["encoder_rate"] == rate]
        return per_replicate(own, case=case, recipe="finetuned", classes=classes, quantity=quantity)

    return measure


def _blame(case: str) -> Measure:
    """Share of the errors on single-view samples of old classes that name a new class."""

    def measure(frames: Frames) -> np.ndarray:
        blamed = _at_rate(case, "largest", "old", "blamed_on_new")(frames)
        wrong = 1 - _at_rate(case, "largest", "old", "accuracy_single_view")(frames)
        if not wrong.any():  # no error to explain: the statement holds of all there are
            return np.ones(1)
        return blamed[wrong > 0] / wrong[wrong > 0]

    return measure


def _claim(name: str, kind: str, **parts: Any) -> Claim:
    return Claim(
        f"mrp/t19-{name}",
        kind,
        **{
            "source": "Discussion, transfer (VA)",
            "artefact": ARTEFACT,
            "out_of_reach": REACH,
            **parts,
        },
    )


def _works(name: str, case: str, statement: str) -> tuple[Claim, Claim]:
    return (
        _claim(
            name,
            THEOREM,
            statement=statement,
            quantity="single-view accuracy of the fine-tuned network",
            low=0.95,
            high=1.0,
            possible=SHARE,
            reason="All features are there: the same band as for Theorem 2.",
            measure=_read(case, "finetuned", "all"),
        ),
        _claim(
            f"{name}-beats-supervised",
            THEOREM,
            statement="It beats training from scratch on the downstream samples.",
            quantity="single-view accuracy, fine-tuned minus supervised, paired over replicates",
            low=0.05,
            high=0.6,
            possible=DIFFERENCE_OF_SHARES,
            reason="The limit is 1/2; single-view samples among the labels, and few classes, help "
            "the supervised network. Pilots gave 0.18 and 0.30.",
            measure=_minus(_read(case, "finetuned", "all"), _read(case, "supervised", "all")),
        ),
    )


CLAIMS: tuple[Claim, ...] = (
    *_works("case-1", SAME, "Same features in another mixture: fine-tuning works."),
    *_works("case-2a", FEWER, "Only some of the features of pre-training: fine-tuning works."),
    _claim(
        "case-2b-old-classes",
        THEOREM,
        statement="New classes beside all old ones: the old classes stay right.",
        quantity="single-view accuracy on old classes, fine-tuned at the chosen rate",
        low=0.95,
        high=1.0,
        possible=SHARE,
        reason="Their features are there: the same band as for Theorem 2.",
        measure=_read(MORE, "finetuned", "old"),
    ),
    _claim(
        "case-2b-new-classes",
        THEOREM,
        source="Discussion, transfer case (2), read as printed (V inside V')",
        statement="New classes beside all old ones: the new classes are learned too.",
        quantity="single-view accuracy on new classes, fine-tuned at the chosen rate",
        low=0.9,
        high=1.0,
        possible=SHARE,
        reason="What the printed case promises, a little below the band for old classes.",
        measure=_read(MORE, "finetuned", "new"),
    ),
    _claim(
        "case-3-free-kernels",
        THEOREM,
        source="Discussion, transfer case (3)",
        statement="Kernels that won nothing are free: fine-tuning lets them pick up new features.",
        quantity="share of the new features captured, fine-tuned at the chosen rate",
        low=0.9,
        high=1.0,
        possible=SHARE,
        reason="What case (3) promises.",
        measure=_read(OVERLAP, "finetuned", "new", "captured"),
    ),
    _claim(
        "case-3-beats-supervised",
        THEOREM,
        source="Discussion, transfer case (3)",
        statement="With some new features, pre-training still improves on training from scratch.",
        quantity="accuracy on all classes (mean of multi-view and single-view), fine-tuned at the "
        "chosen rate minus supervised, paired over replicates",
        low=0.0,
        high=1.0,
        possible=DIFFERENCE_OF_SHARES,
        reason="An improvement is a difference above 0.",
        measure=_minus(_both_kinds(OVERLAP, "finetuned"), _both_kinds(OVERLAP, "supervised")),
    ),
    _claim(
        "rate-trade-off",
        OBSERVATION,
        source="Control (ours)",
        statement="A large encoder rate, which the new classes need, costs the old ones: their "
        "single-view accuracy falls.",
        quantity="single-view accuracy on old classes in case 2b, smallest minus largest rate",
        low=0.2,
        high=0.8,
        possible=DIFFERENCE_OF_SHARES,
        reason="Pilots gave 0.43 in this direction; the band says clearly more than noise.",
        measure=_minus(
            _at_rate(MORE, "smallest", "old", "accuracy_single_view"),
            _at_rate(MORE, "largest", "old", "accuracy_single_view"),
        ),
    ),
    _claim(
        "rate-keeps-features",
        OBSERVATION,
        source="Control (ours)",
        statement="It is not that the encoder forgets: at the large rate all old features are "
        "still captured.",
        quantity="share of the old features captured in case 2b, at the largest rate",
        low=0.99,
        high=1.0,
        possible=SHARE,
        reason="Pilots gave 1.",
        measure=_at_rate(MORE, "largest", "old", "captured"),
    ),
    _claim(
        "new-classes-by-elimination",
        OBSERVATION,
        source="Control (ours)",
        statement="It is the head: it calls 'new' what shows too little of the old features, as a "
        "single-view sample does.",
        quantity="share of the errors on single-view samples of old classes that name a new class, "
        "case 2b at the largest rate",
        low=0.9,
        high=1.0,
        possible=SHARE,
        reason="Two of twelve classes are new: blind errors would name them in 2 of 11 cases. "
        "Pilots gave 1.",
        measure=_blame(MORE),
    ),
    _claim(
        "continued-2b",
        OBSERVATION,
        source="Control (ours): mask reconstruction continued on the downstream samples",
        statement="Free kernels do pick up new features, if mask reconstruction, not fine-tuning, "
        "teaches them: then all classes of case 2b are right.",
        quantity="single-view accuracy on all classes, pre-training continued, then fine-tuned",
        low=0.95,
        high=1.0,
        possible=SHARE,
        reason="All features captured again: the band of Theorem 2.",
        measure=_read(MORE, "continued", "all"),
    ),
    _claim(
        "continued-3",
        OBSERVATION,
        source="Control (ours): mask reconstruction continued on the downstream samples",
        statement="The same in case 3.",
        quantity="single-view accuracy on all classes, pre-training continued, then fine-tuned",
        low=0.95,
        high=1.0,
        possible=SHARE,
        reason="All features captured again: the band of Theorem 2.",
        measure=_read(OVERLAP, "continued", "all"),
    ),
)
