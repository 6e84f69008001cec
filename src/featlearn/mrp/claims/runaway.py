"""Teacher-student kernels beyond capture: T4, T8 and T9 of our list of checks.

Bands rest on the theory and on pilot runs with other random streams.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from featlearn.core.claims import (
    CONTROL,
    DIFFERENCE_OF_SHARES,
    OBSERVATION,
    POSITIVE,
    SHARE,
    THEOREM,
    Claim,
    Measure,
    needs,
)
from featlearn.mrp.claims.common import values

OUTCOME = "mrp/measurements/runaway/outcome.parquet"
#: Share of the replicates in which something must be so that has no exception in the derivation:
#: ten of ten cannot tell more.
MOST = 0.7
#: Of the two claims with that band.
LOWERED = (
    "From .7 since ten of ten replicates were seen, of which Wilson's interval begins at .72; .95 "
    "until verdicts were formed from the interval."
)


def _read(quantity: str, schedule: str = "main") -> Measure:
    return lambda frames: values(frames, schedule, quantity)


def _mixed(frames: Mapping[str, pd.DataFrame]) -> np.ndarray:
    return (values(frames, "main", "features_held") > 1).astype(float)


def _rate(frames: Mapping[str, pd.DataFrame]) -> np.ndarray:
    return values(frames, "main", "rate_measured") / values(frames, "main", "rate_formula")


def _schedules_differ(frames: Mapping[str, pd.DataFrame]) -> np.ndarray:
    quantity = "impure_share_at_last_capture"
    return values(frames, "main", quantity) - values(frames, "appendix", quantity)


def _claim(name: str, kind: str, **parts: Any) -> Claim:
    reach = needs(
        runaway__data__classes=5,
        runaway__replicates=10,
        runaway__pretraining__max_steps=1200,
    )
    return Claim(f"mrp/{name}", kind, artefact=OUTCOME, **{"out_of_reach": reach, **parts})


CLAIMS: tuple[Claim, ...] = (
    _claim(
        "t8-off-diagonal-before-first-capture",
        THEOREM,
        source="Theorem 1(b), (c), part 1; Claim E.6, up to the first capture",
        statement="Until a first feature is captured, correlations of kernels with features other "
        "than their strongest stay of the order of sigma_0.",
        quantity="largest off-diagonal |correlation| / sigma_0 at the first capture",
        low=0.0,
        high=5.0,
        possible=POSITIVE,
        reason="The largest of 600 Gaussians is 3.2 sigma_0, and by then it has grown by at most "
        "half: 5. Pilots gave 2.6-5.7 a replicate.",
        measure=_read("off_diagonal_at_first_capture"),
    ),
    _claim(
        "t8-off-diagonal-as-printed",
        THEOREM,
        source="Theorem 1(b), (c), part 1; Lemma F.3; Claim E.4(b)",
        statement="Correlations of kernels with features other than their strongest stay of the "
        "order of sigma_0 until every feature is captured (as printed).",
        quantity="largest off-diagonal |correlation| / sigma_0 at the last capture",
        low=0.0,
        high=5.0,
        possible=POSITIVE,
        statistic="median",
        reason="The same band. Claim E.4(b) drops the cross term, which is larger than what it "
        "lists by a factor of order sigma_0^-q; a failure is expected.",
        changed="The median since a run had left the mean undecided: kernels that run away make a "
        "heavy tail.",
        measure=_read("off_diagonal_at_last_capture"),
    ),
    _claim(
        "t8-purity-as-printed-small",
        THEOREM,
        source="Theorem 1(b), (c), part 1",
        statement="From a small start, a kernel that wins a feature holds no other one (as "
        "printed).",
        quantity="share of winners that hold more than one feature at the last capture",
        low=0.0,
        high=0.01,
        possible=SHARE,
        reason="The theorem says none; the band is that of the MAE claim.",
        measure=_read("impure_share_at_last_capture"),
    ),
    _claim(
        "t8-cross-term-exceeds-own",
        OBSERVATION,
        source="Our correction of Claim E.4(b)",
        statement="When a kernel captures a first feature, the push towards its second one comes "
        "from the patches of the first: the cross term exceeds the feature's own push.",
        quantity="share of replicates in which cross push > own push at that step",
        low=MOST,
        high=1.0,
        possible=SHARE,
        statistic="share",
        reason="Exact for equal strengths if tau b z <= varrho and (tau - 1) a z > varrho / q, "
        "which hold at a capture; strengths differ by less than the margin.",
        changed=LOWERED,
        measure=_read("cross_exceeds_own"),
    ),
    _claim(
        "t9-bounded-as-printed",
        THEOREM,
        source="Theorem 1(a), part 1; Lemma F.1: Lambda stays of order one",
        statement="Training on after capture keeps correlations of order one (as printed).",
        quantity="share of replicates in which no kernel entry reaches 1000 within the steps",
        low=0.95,
        high=1.0,
        possible=SHARE,
        statistic="share",
        reason="The theorem bounds Lambda by a polylogarithm. Mixed kernels grow exponentially in "
        "our derivation, so a failure is expected.",
        measure=_read("finite"),
    ),
    _claim(
        "t9-runaway-is-mixed",
        OBSERVATION,
        source="Our correction of Lemma F.1",
        statement="The kernel that runs away is a mixed one.",
        quantity="share of replicates in which the largest kernel holds more than one feature",
        low=MOST,
        high=1.0,
        possible=SHARE,
        statistic="share",
        reason="A pure kernel drifts linearly; only features that occur together feed each other.",
        changed=LOWERED,
        measure=_mixed,
    ),
    _claim(
        "t9-runaway-rate",
        OBSERVATION,
        source="Our correction of Lemma F.1",
        statement="A kernel that runs away grows exponentially, at the rate of a linear system: "
        "d a_v/dt = (1/theta - 1)/C_p sum_{v' != v} E[Z_v Z_v'] a_v'.",
        quantity="measured rate over the rate of the closed form, from size 20 to 600",
        low=0.95,
        high=1.05,
        possible=POSITIVE,
        reason="Exact for large kernels of linear response with delta_t = 0; the offset of the "
        "activation and delta_t add about a per cent at this size.",
        measure=_rate,
    ),
    _claim(
        "t4-teacher-like-student-learns-nothing",
        CONTROL,
        source="Control (ours) to the teacher factor, section 3.2",
        statement="With tau = 1, a teacher no larger than the student, kernels shrink.",
        quantity="Lambda at the end over Lambda at the start, mean over features, tau = 1",
        low=0.0,
        high=0.95,
        possible=POSITIVE,
        reason="The masks' variance then only pulls: the slope is -(1/theta - 1) R R' z.",
        measure=_read("growth_of_features", "one"),
    ),
    _claim(
        "t4-printed-schedules-agree",
        OBSERVATION,
        source="Main text against Assumption 2: delta_t = 1/(t+1) or 1/(t^(1/q)+1)",
        statement="The two schedules that the paper prints lead to the same end.",
        quantity="share of impure winners at the last capture, main text's minus appendix's",
        low=-0.1,
        high=0.1,
        possible=DIFFERENCE_OF_SHARES,
        reason="Both add to a constant that is above the critical factor already; the slower one "
        "only speeds growth up.",
        measure=_schedules_differ,
    ),
)
