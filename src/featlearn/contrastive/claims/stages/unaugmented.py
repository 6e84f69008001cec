"""Theorem 3.2, footnote 3 and appendix F: without augmentation no feature is learned.

The paper's training without augmentation keeps thresholds at zero; by footnote 3 raised ones would
change nothing. Both are trained, from the start and for the steps of the arm with RandomMask.
"""

from __future__ import annotations

import math

from featlearn.contrastive.claims.shared import EXCUSED, ratio
from featlearn.contrastive.claims.stages.reading import claim, seen
from featlearn.core.claims import (
    DIFFERENCE_OF_SHARES,
    OBSERVATION,
    POSITIVE,
    SHARE,
    THEOREM,
    Claim,
    Measure,
    difference,
)

ZERO, RAISED = "unmasked-zero", "unmasked"


def _off_noise(arm: str) -> Measure:
    """``1 - cos(f(x), f(xi))`` at the end over the same at the start."""
    return ratio(
        lambda frames: 1 - seen("cosine_noise", "end", arm)(frames),
        lambda frames: 1 - seen("cosine_noise", "start", arm)(frames),
    )


CLAIMS: tuple[Claim, ...] = (
    claim(
        "theorem-3.2-loss",
        kind=THEOREM,
        possible=POSITIVE,
        source="Theorem 3.2",
        statement="Without augmentation the contrastive loss goes to zero.",
        quantity="loss at the end over the initial one, thresholds at zero",
        low=0.0,
        high=0.1,
        reason="0, read as a tenth after this many steps.",
        measure=ratio(seen("loss", "end", ZERO), seen("loss", "start", ZERO)),
    ),
    claim(
        "theorem-3.2-cosine",
        kind=THEOREM,
        possible=POSITIVE,
        source="Theorem 3.2: cos(f(x), f(xi)) >= 1 - 1/poly(d)",
        statement="Without augmentation training brings the representation of a sample no further "
        "from that of its noise.",
        quantity="1 - cos(f(x), f(xi)) at the end over the same at the start, thresholds at zero",
        low=0.0,
        high=1.0,
        reason="The cosine itself is 0.96 before any training. 1 - cos should vanish, so not grow. "
        "From this start growth in span(M) is the faster one, and a pilot gave 3; a failure is "
        "expected.",
        asymptotic="With thresholds at zero the part of the weights in span(M) grows at p + "
        "sigma^2 and the rest at sigma^2, so that 1 - cos grows at every d: until sum ||w||^2 has "
        "grown a hundredfold by 4.1 at d = 32, by 4.2 at d = 10^6.",
        measure=_off_noise(ZERO),
    ),
    claim(
        "footnote-3-cosine",
        kind=THEOREM,
        possible=POSITIVE,
        source="Footnote 3: thresholds without augmentation do not affect the results",
        statement="With raised thresholds, too, training without augmentation brings the "
        "representation of a sample no further from that of its noise.",
        quantity="1 - cos(f(x), f(xi)) at the end over the same at the start, thresholds raised",
        low=0.0,
        high=1.0,
        reason="As before; a pilot had a cosine of 0.71 at the end.",
        measure=_off_noise(RAISED),
    ),
    claim(
        "no-augmentation-no-singletons",
        kind=THEOREM,
        possible=SHARE,
        source="Theorem 3.2 with footnote 3",
        statement="Without augmentation no neuron learns an atom, though thresholds are raised.",
        quantity="share of singletons at the end, no mask, thresholds raised",
        low=0.0,
        high=0.01,
        reason="None, read as one in a hundred. With thresholds at zero there could be none "
        "whatever the mask; a review and a pilot gave 0.45 with raised ones; a failure is "
        "expected.",
        measure=seen("singletons", "end", RAISED),
    ),
    claim(
        "retrieval-misleads",
        kind=OBSERVATION,
        possible=DIFFERENCE_OF_SHARES,
        source="Control (ours): the task is solved with bad features",
        statement="The positive is retrieved better by the linear network without augmentation, "
        "which knows no atom, than by the one with RandomMask and thresholds.",
        quantity="share of anchors whose positive wins at the end, difference",
        low=0.5,
        high=1.0,
        reason="Without masks the positive is the anchor itself; a code of z is shared by many.",
        measure=difference(seen("retrieval", "end", ZERO), seen("retrieval")),
    ),
    claim(
        "lemma-f3",
        kind=THEOREM,
        possible=POSITIVE,
        source="Lemma F.3",
        statement="Without augmentation sum ||w_i||^2 passes tau d, at d = 32.",
        quantity="sum ||w_i||^2 / (tau d) at the end, thresholds at zero",
        low=1.0,
        high=math.inf,
        reason="Omega(d polylog), with constant 1; it starts below 0.01.",
        measure=seen("squared_norm_over_atoms", "end", ZERO),
    ),
    claim(
        "fact-f4-as-printed",
        kind=THEOREM,
        possible=POSITIVE,
        source="Fact F.4: the share in span(M) stays 1 / poly(d)",
        statement="Without augmentation neurons do not turn to span(M).",
        quantity="share of ||w_i||^2 in span(M) at the end over d / d_1, thresholds at zero",
        low=0.0,
        high=1.5,
        reason="d / d_1 at the start; at most half as much again.",
        measure=seen("signal_share_over_start", "end", ZERO),
        asymptotic="span(M) grows at p + sigma^2 and the rest at sigma^2. Until sum ||w||^2 has "
        "grown a hundredfold the share grows 5.1 times at d = 32 and 5.2 times at d = 10^6, where "
        "p / sigma^2 is .71; below 1.5 it stays only for p / sigma^2 < .1, from d = 10^3500 on.",
        changed=EXCUSED,
    ),
)
