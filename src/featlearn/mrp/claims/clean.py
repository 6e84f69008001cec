"""What Pan, Zhou & Yan say must hold, on data with hardly any noise, where their theory stands.

Bands rest on the theory and on pilot runs with other random streams (two small independent
prototypes, 3-4 and 10 replicates); the replicates of a run are fresh. That pre-training is of use
cannot be shown here: a linear classifier on the summed patches does as well (see the headline).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from featlearn.core.claims import (
    CONTROL,
    DIFFERENCE_OF_SHARES,
    SHARE,
    THEOREM,
    Claim,
    Measure,
    needs,
)
from featlearn.mrp.claims.common import minus, of_model, values

EVALUATION = "mrp/measurements/clean/evaluation.parquet"

#: Sizes and lengths below which the bands of these claims were not derived.
too_small = needs(
    clean__data__classes=10,
    clean__replicates=10,
    clean__pretraining__max_steps=6000,
    clean__supervised__steps=800,
)


def _impure_share(frames: Mapping[str, pd.DataFrame]) -> np.ndarray:
    winners = values(frames, "pretrained", "winners")
    return values(frames, "pretrained", "impure_winners") / np.maximum(winners, 1)


#: Why fine-tuning at a rate of zero no longer passes.
FINE_TUNED = (
    "That fine-tuning must have moved the kernels is of a review: at a rate of zero the claim "
    "held, too. The numbers were known."
)


def features_kept(watched: str) -> Measure:
    """Captured share after fine-tuning minus before; -1 where ``watched`` is what it was."""

    def measure(frames: Mapping[str, pd.DataFrame]) -> np.ndarray:
        moved = np.abs(minus("finetuned", "pretrained", watched)(frames)) > 1e-3
        return np.where(moved, minus("finetuned", "pretrained", "captured")(frames), -1.0)

    return measure


def _single_view_error(frames: Mapping[str, pd.DataFrame]) -> np.ndarray:
    return 1 - values(frames, "supervised", "accuracy_single_view")


#: Of the two claims that answer to it.
FEW_DIMENSIONS = "Out of reach in so few dimensions since a run had missed the band."


def few_dimensions(config: Mapping[str, Any]) -> str | None:
    """Why kernels near norm one must answer to the background's noise at these sizes, or None."""
    clean = config["clean"]
    reach = clean["network"]["sigma_0"] * clean["data"]["dimension"] ** 0.5
    if reach < 1:
        return too_small(config) or (
            "a winner answers to the background's noise with about Lambda gamma k / sqrt(d), which "
            f"is below sigma_0 gamma k only if sigma_0 sqrt(d) is above 1; here it is {reach:.2g} "
            "(the paper asks for sqrt(d) of k / sigma_0^(q-1) at least)."
        )
    return too_small(config)


def _claim(name: str, kind: str, **parts: Any) -> Claim:
    return Claim(f"mrp/{name}", kind, artefact=EVALUATION, **{"out_of_reach": too_small, **parts})


CLAIMS: tuple[Claim, ...] = (
    _claim(
        "theorem-1a-mae",
        THEOREM,
        source="Theorem 1(a), part 2 (MAE); Theorem H.2",
        statement="Mask-reconstruction pre-training captures every feature of every class.",
        quantity="share of the 2k features with Lambda >= varrho after pre-training",
        low=0.995,
        high=1.0,
        possible=SHARE,
        reason="The theorem says all; one miss among 200 is allowed for the cap on the steps.",
        measure=of_model("pretrained", "captured"),
    ),
    _claim(
        "theorem-1c-mae",
        THEOREM,
        source="Theorem 1(b), (c), part 2 (MAE); Theorem H.2",
        statement="A kernel that wins a feature holds no other one.",
        quantity="share of winning kernels that hold more than one feature",
        low=0.0,
        high=0.01,
        possible=SHARE,
        reason="The theorem says none; one in a hundred is allowed, as kernels are finitely many.",
        measure=_impure_share,
    ),
    _claim(
        "lemma-1-multi-view",
        THEOREM,
        source="Lemma 1 (Allen-Zhu & Li)",
        statement="Supervised training classifies multi-view data correctly.",
        quantity="multi-view accuracy of the supervised network",
        low=0.95,
        high=1.0,
        possible=SHARE,
        reason="The lemma says with high probability all; pilots gave 0.89-1.0 a replicate after "
        "400-800 steps, so a mean of 0.95 is asked for.",
        measure=of_model("supervised", "accuracy_multi_view"),
    ),
    _claim(
        "lemma-1-features-lost",
        THEOREM,
        source="Lemma 1 (Allen-Zhu & Li)",
        statement="Supervised training loses at least a seventh of the features.",
        quantity="share of the 2k features that a kernel of their own class captured",
        low=0.5,
        high=0.85,
        possible=SHARE,
        reason="One of two is 0.5, and each class must keep one. At k = 10 classes whose two "
        "initial maxima lie close keep both: pilots gave 0.60-0.80 a replicate.",
        changed="The sentence was `one of the two of a class`, which the printed half-error claim "
        "asks for and this band does not (a review); the number is the same.",
        measure=of_model("supervised", "captured"),
    ),
    _claim(
        "lemma-1-half-error",
        THEOREM,
        source="Lemma 1 (Allen-Zhu & Li)",
        statement="Supervised training errs on half of the single-view data.",
        quantity="single-view error of the supervised network",
        low=0.49,
        high=0.51,
        possible=SHARE,
        reason="The printed band [0.49 mu, 0.51 mu] of the overall error, divided by mu. At k = 10 "
        "some classes keep both features; and an image of a lost view that holds no captured "
        "distractor, which with half of the features lost has the chance e^-s = .05, is right by "
        "elimination, which would leave .475. A failure is expected.",
        measure=_single_view_error,
        changed="`not shown at this scale`, whatever the config, until a review: the excuse read "
        "no size of the run.",
    ),
    _claim(
        "lemma-1-single-view",
        THEOREM,
        source="Lemma 1 (Allen-Zhu & Li), finite form",
        statement="Supervised training errs on a large part of the single-view data.",
        quantity="single-view accuracy of the supervised network",
        low=0.5,
        high=0.8,
        possible=SHARE,
        reason="Half is the limit of many classes; at k = 10 about a third of the classes keep "
        "both features, whose single-view images are then right: pilots gave 0.57-0.82.",
        measure=of_model("supervised", "accuracy_single_view"),
    ),
    _claim(
        "lemma-g1-features-kept",
        THEOREM,
        source="Claim G.1",
        statement="Fine-tuning loses no feature that pre-training captured.",
        quantity="share of features captured after fine-tuning minus before, paired; -1 where the "
        "weakest feature is what it was",
        low=0.0,
        high=0.005,
        possible=DIFFERENCE_OF_SHARES,
        reason="The claim says correlations do not decrease; a gain is bounded by theorem 1(a). "
        "Where no kernel moved nothing was fine-tuned.",
        measure=features_kept("weakest_feature"),
        changed=FINE_TUNED,
    ),
    _claim(
        "clean-needs-no-features",
        CONTROL,
        source="Control (ours)",
        statement="On data with hardly any noise a linear classifier is right on everything: they "
        "cannot show what features are good for.",
        quantity="single-view accuracy of a linear classifier on the summed patches",
        low=0.98,
        high=1.0,
        possible=SHARE,
        reason="Each patch without a feature adds at most gamma = 0.0005 of each. A review of an "
        "earlier version of this experiment, with other streams, measured 1.000.",
        measure=of_model("raw_linear", "accuracy_single_view"),
    ),
)
