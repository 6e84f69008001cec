"""Corollaries 3.3 and 3.5: what features are worth downstream; what mask and thresholds add.

The four trainings (RandomMask or not, thresholds raised or kept at zero) share start, length,
samples and labels, so that a difference of two is the effect of one thing. With thresholds at zero
the network is linear: that it is no better than a linear predictor is algebra, and a control.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from featlearn.contrastive.claims.shared import EXCUSED, against_linear, of_model, ratio
from featlearn.contrastive.claims.stages.reading import EVALUATION, LABELS, claim
from featlearn.core.claims import (
    CONTROL,
    DIFFERENCE_OF_SHARES,
    OBSERVATION,
    POSITIVE,
    SHARE,
    THEOREM,
    Claim,
    Measure,
    difference,
)
from featlearn.core.stats import per_replicate


def _few_labels(frames: Mapping[str, pd.DataFrame]) -> np.ndarray:
    """NMSE with about 30 d labels over that with all of the figure's labels."""
    frame = frames["labels"]
    atoms = int(frames["alignment"]["atom"].max()) + 1
    own = frame[(frame["model"] == "masked") & (frame["quantity"] == "nmse")]
    counts = sorted(own["labels"].unique())
    few = min(counts, key=lambda count: abs(count - 30 * atoms))
    return per_replicate(own, labels=few) / per_replicate(own, labels=counts[-1])


def _below_linear(model: str) -> Measure:
    """NMSE of the best linear predictor, minus that of a model."""
    return difference(of_model("linear-exact", "nmse"), of_model(model, "nmse"))


def _step_down(first: str, second: str) -> Measure:
    """NMSE of the first minus that of the second model."""
    return difference(of_model(first, "nmse"), of_model(second, "nmse"))


def _linear(name: str, model: str, **parts: Any) -> Claim:
    """A model against the best linear predictor."""
    return against_linear(claim, name, model, artefact=EVALUATION, **parts)


def _accuracy(name: str, model: str, **parts: Any) -> Claim:
    """A model against a linear classifier of the samples."""
    gain = difference(of_model(model, "accuracy"), of_model("raw", "accuracy"))
    return claim(name, possible=DIFFERENCE_OF_SHARES, measure=gain, artefact=EVALUATION, **parts)


CLAIMS: tuple[Claim, ...] = (
    _linear(
        "corollary-3.5",
        "masked",
        kind=THEOREM,
        source="Corollary 3.5, finite form",
        statement="A linear probe on the masked, thresholded network beats every linear predictor.",
        low=0.0,
        high=0.6,
        reason="Four tenths less is a clear gap. Pilots gave 0.5.",
    ),
    claim(
        "corollary-3.5-as-printed",
        kind=THEOREM,
        possible=POSITIVE,
        source="Corollary 3.5",
        statement="The error of a linear probe on the masked, thresholded network vanishes.",
        quantity="NMSE",
        low=0.0,
        high=0.05,
        reason="o(1), read as 5 %. At d = 32 no estimator is below .15, the error of the posterior "
        "mean; at d = 64 that is .03, so that a larger run may come below.",
        measure=of_model("masked", "nmse"),
        artefact=EVALUATION,
        changed=EXCUSED + " That excuse, a Bayes error above the band at all sizes, was wrong.",
    ),
    _accuracy(
        "corollary-3.5-accuracy",
        "masked",
        kind=THEOREM,
        source="Corollary 3.5, classification",
        statement="A linear probe on the masked, thresholded network classifies better than any "
        "linear classifier of the samples.",
        quantity="accuracy minus that of the probe on samples",
        low=0.08,
        high=1.0,
        reason="From 0.75 to about 0.9; validation gave 0.136.",
    ),
    claim(
        "corollary-3.5-labels",
        kind=OBSERVATION,
        possible=POSITIVE,
        source="Corollary 3.5, O~(d^1.001) labels, at one d (ours)",
        statement="With about 30 d labels the probe errs at most half as much again as with the "
        "most.",
        quantity="NMSE with about 30 d labels over that with the most labels of the figure",
        low=0.0,
        high=1.5,
        reason="Half as much again at most for a number of labels of this order; validation gave "
        "1.09.",
        changed="Was told as the corollary's order d log d, which one d cannot show (a review); an "
        "observation since. The number is the same.",
        measure=_few_labels,
        artefact=LABELS,
    ),
    claim(
        "mask-own-effect",
        kind=THEOREM,
        source="Sections 3 and 4, the message",
        statement="RandomMask lowers the error where thresholds are raised: it beats the strongest "
        "opponent, the same training without the mask.",
        quantity="NMSE without minus with RandomMask, thresholds raised in both",
        low=0.04,
        high=1.0,
        reason="More than sampling error. Pilots gave 0.08 and 0.11, a review with another stage I "
        "0.13.",
        measure=_step_down("unmasked", "masked"),
        artefact=EVALUATION,
    ),
    claim(
        "thresholds-own-effect",
        kind=THEOREM,
        source="Section 4 (why thresholds)",
        statement="Raised thresholds lower the error under RandomMask.",
        quantity="NMSE with thresholds at zero minus with raised ones, RandomMask in both",
        low=0.2,
        high=1.0,
        reason="The linear network stays near 0.6 at any size. Pilots gave 0.34 and 0.38.",
        measure=_step_down("masked-zero", "masked"),
        artefact=EVALUATION,
    ),
    claim(
        "footnote-3",
        kind=THEOREM,
        source="Footnote 3: thresholds without augmentation do not affect the results",
        statement="Without augmentation raised thresholds change nothing.",
        quantity="NMSE with thresholds at zero minus with raised ones, no mask in both",
        low=-0.05,
        high=0.05,
        reason="Nothing, read as a twentieth of the mean square. Pilots gave 0.23, a review 0.2; a "
        "failure is expected.",
        measure=_step_down("unmasked-zero", "unmasked"),
        artefact=EVALUATION,
    ),
    claim(
        "only-both",
        kind=THEOREM,
        source="Sections 3 and 4, the message",
        statement="Of what RandomMask and thresholds gain over linear, thresholds alone gain "
        "nothing.",
        quantity="(linear NMSE - NMSE) of thresholds alone over the same of mask and thresholds",
        low=-0.2,
        high=0.2,
        reason="0, read as a fifth. Pilots gave 0.7; a failure is expected.",
        measure=ratio(_below_linear("unmasked"), _below_linear("masked")),
        artefact=EVALUATION,
    ),
    _linear(
        "thresholds-needed",
        "masked-zero",
        kind=CONTROL,
        source="Section 4 (why thresholds)",
        statement="With RandomMask but thresholds at zero the network is as good as linear.",
        low=0.97,
        high=1.2,
        reason="Below 1 is impossible but for sampling error; above it lies what the probe loses. "
        "Pilots gave 1.08 and 1.12.",
    ),
    _linear(
        "linear-without-mask",
        "unmasked-zero",
        kind=CONTROL,
        source="Corollary 3.3, thresholds at zero",
        statement="Without augmentation a network with thresholds at zero is as good as linear.",
        low=0.97,
        high=1.2,
        reason="As before. Pilots gave 1.03 and 1.04.",
    ),
    _linear(
        "random-features",
        "random-features",
        kind=CONTROL,
        source="Control (ours)",
        statement="Random weights with the thresholds of T1 are no better than linear.",
        low=0.97,
        high=5.0,
        reason="As many random features as neurons, far too few for a rule in so many coordinates. "
        "Pilots gave 1.5.",
    ),
    _linear(
        "corollary-3.3",
        "unmasked",
        kind=THEOREM,
        source="Corollary 3.3 with footnote 3, finite form",
        statement="Without augmentation the probe is no better than a linear predictor, though "
        "thresholds are raised.",
        quantity="NMSE over that of the best linear predictor, no mask, thresholds raised",
        low=0.97,
        high=5.0,
        reason="With thresholds at zero this is algebra. Pilots gave 0.65, a review the same; a "
        "failure is expected.",
    ),
    _accuracy(
        "corollary-3.3-accuracy",
        "unmasked",
        kind=THEOREM,
        source="Corollary 3.3 with footnote 3, classification",
        statement="Without augmentation the probe classifies no better than a linear classifier of "
        "the samples, though thresholds are raised.",
        quantity="accuracy minus that of the probe on samples, no mask, thresholds raised",
        low=-1.0,
        high=0.03,
        reason="No gain that can be told from none. Pilots gave 0.09; a failure is expected.",
    ),
    claim(
        "corollary-3.3-as-printed",
        kind=THEOREM,
        possible=SHARE,
        source="Corollary 3.3, Pr[correct] = o(1), a misprint",
        statement="Without augmentation the accuracy vanishes (as printed).",
        quantity="accuracy, no mask, thresholds at zero",
        low=0.0,
        high=0.5,
        reason="A binary classifier below 1/2 is a better one with its sign turned, so this is a "
        "misprint of no consequence, and no failure of the theory; a failure is expected.",
        measure=of_model("unmasked-zero", "accuracy"),
        artefact=EVALUATION,
        out_of_reach=None,
    ),
)
