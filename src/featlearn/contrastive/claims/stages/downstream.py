"""Corollaries 3.3 and 3.5: what the features are worth downstream."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from featlearn.contrastive.claims.shared import always, nmse_over_linear, of_model, ratio
from featlearn.contrastive.claims.stages.reading import ATOMS, EVALUATION, LABELS, claim
from featlearn.core.claims import (
    CONTROL,
    DIFFERENCE_OF_SHARES,
    POSITIVE,
    SHARE,
    THEOREM,
    Claim,
    difference,
)
from featlearn.core.stats import per_replicate


def _few_labels(frames: Mapping[str, pd.DataFrame]) -> np.ndarray:
    """NMSE with about 30 d labels over that with all of the figure's labels."""
    frame = frames["labels"]
    own = frame[(frame["model"] == "masked") & (frame["quantity"] == "nmse")]
    counts = sorted(own["labels"].unique())
    few = min(counts, key=lambda count: abs(count - 30 * ATOMS))
    return per_replicate(own, labels=few) / per_replicate(own, labels=counts[-1])


CLAIMS: tuple[Claim, ...] = (
    claim(
        "corollary-3.5",
        kind=THEOREM,
        possible=POSITIVE,
        source="Corollary 3.5, finite form",
        statement="A linear probe on the masked, thresholded network beats every linear predictor.",
        quantity="NMSE over that of the best linear predictor",
        low=0.25,
        high=0.55,
        reason="Below 0.55 is a clear gap; below 0.25 would be the Bayes floor. Validation gave "
        "0.43.",
        measure=nmse_over_linear("masked"),
        artefact=EVALUATION,
    ),
    claim(
        "corollary-3.5-as-printed",
        kind=THEOREM,
        possible=POSITIVE,
        source="Corollary 3.5",
        statement="Its error vanishes.",
        quantity="NMSE",
        low=0.0,
        high=0.05,
        reason="o(1), read as 5 %.",
        measure=of_model("masked", "nmse"),
        artefact=EVALUATION,
        out_of_reach=always("the Bayes floor alone is 0.149 at d = 32."),
    ),
    claim(
        "corollary-3.5-accuracy",
        kind=THEOREM,
        possible=DIFFERENCE_OF_SHARES,
        source="Corollary 3.5, classification",
        statement="And it classifies better than any linear classifier of the samples.",
        quantity="accuracy minus that of the probe on samples",
        low=0.08,
        high=0.3,
        reason="From 0.75 to about 0.9; validation gave 0.136.",
        measure=difference(
            of_model("masked", "accuracy"),
            of_model("raw", "accuracy"),
        ),
        artefact=EVALUATION,
    ),
    claim(
        "corollary-3.5-labels",
        kind=THEOREM,
        possible=POSITIVE,
        source="Corollary 3.5, O~(d^1.001) labels",
        statement="A number of labels of order d log d is enough.",
        quantity="NMSE with about 30 d labels over that with the most labels of the figure",
        low=1.0,
        high=1.5,
        reason="Half as much again at most for a number of labels of this order; validation gave "
        "1.09.",
        measure=_few_labels,
        artefact=LABELS,
    ),
    claim(
        "thresholds-needed",
        kind=CONTROL,
        possible=POSITIVE,
        source="Section 4 (why thresholds)",
        statement="With RandomMask but thresholds at zero the network is linear and no better than "
        "linear.",
        quantity="NMSE over that of the best linear predictor",
        low=0.97,
        high=1.15,
        reason="A linear encoder cannot be below 1 but for sampling error; ridge and a finite "
        "label set cost some per cent.",
        measure=nmse_over_linear("zero-thresholds"),
        artefact=EVALUATION,
    ),
    claim(
        "corollary-3.3",
        kind=THEOREM,
        possible=POSITIVE,
        source="Corollary 3.3, finite form",
        statement="Without augmentation the probe is no better than a linear predictor.",
        quantity="NMSE over that of the best linear predictor",
        low=0.97,
        high=1.15,
        reason="As before.",
        measure=nmse_over_linear("unmasked"),
        artefact=EVALUATION,
    ),
    claim(
        "corollary-3.3-accuracy",
        kind=THEOREM,
        possible=SHARE,
        source="Corollary 3.3, accuracy bounded away from 1",
        statement="And its accuracy stays away from 1.",
        quantity="accuracy",
        low=0.65,
        high=0.8,
        reason="That of a linear classifier: 0.75 at these sizes (independent prototype).",
        measure=of_model("unmasked", "accuracy"),
        artefact=EVALUATION,
    ),
    claim(
        "corollary-3.3-as-printed",
        kind=THEOREM,
        possible=SHARE,
        source="Corollary 3.3, Pr[correct] = o(1)",
        statement="Its accuracy vanishes (as printed).",
        quantity="accuracy",
        low=0.0,
        high=0.5,
        reason="A binary classifier below 1/2 is a better one with its sign turned, so this is a "
        "misprint; a failure is expected.",
        measure=of_model("unmasked", "accuracy"),
        artefact=EVALUATION,
        out_of_reach=None,
    ),
    claim(
        "only-both",
        kind=THEOREM,
        possible=POSITIVE,
        source="Sections 3 and 4, the message",
        statement="Only RandomMask with thresholds does better than linear: its error is far below "
        "that of no augmentation.",
        quantity="NMSE with RandomMask and thresholds over that without augmentation",
        low=0.25,
        high=0.55,
        reason="The gap of Corollary 3.5 again; validation gave 0.42.",
        measure=ratio(
            of_model("masked", "nmse"),
            of_model("unmasked", "nmse"),
        ),
        artefact=EVALUATION,
    ),
)
