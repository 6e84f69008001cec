"""Identities of section 4, checked against brute force; two trainings against the grain.

An identity is a matter of rounding (about 1e-15 in float64), so its band holds at every scale. A
replicate is one random instance; the error is the largest over the exponents q.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from featlearn.core.claims import (
    CONTROL,
    IDENTITY,
    OBSERVATION,
    POSITIVE,
    SHARE,
    THEOREM,
    Claim,
    Measure,
    needs,
)
from featlearn.mrp.claims.common import by_replicate

INSTANCES = "mrp/measurements/oracles/instances.parquet"
RACES = "mrp/measurements/oracles/races.parquet"
RUNS = "mrp/measurements/oracles/printed-runs.parquet"
ORDINARY = "mrp/measurements/oracles/ordinary-teacher.parquet"

ROUNDING = 1e-10
EXACT = "An identity: enumeration and formula may differ by rounding in float64 only."


def _worst(quantity: str) -> Measure:
    def measure(frames: Mapping[str, pd.DataFrame]) -> np.ndarray:
        frame = frames["instances"]
        return by_replicate(frame[frame["quantity"] == quantity], how="max")

    return measure


def _typical(quantity: str) -> Measure:
    def measure(frames: Mapping[str, pd.DataFrame]) -> np.ndarray:
        frame = frames["instances"]
        return by_replicate(frame[frame["quantity"] == quantity])

    return measure


def _of_runs(frames: Mapping[str, pd.DataFrame], gradient: str, quantity: str) -> np.ndarray:
    frame = frames["runs"]
    return by_replicate(frame[(frame["gradient"] == gradient) & (frame["quantity"] == quantity)])


def _hit_ratio(frames: Mapping[str, pd.DataFrame]) -> np.ndarray:
    steps = {name: _of_runs(frames, name, "all_captured") for name in ("as_printed", "true")}
    return steps["as_printed"] / steps["true"]


def _ordinary(quantity: str) -> Measure:
    def measure(frames: Mapping[str, pd.DataFrame]) -> np.ndarray:
        frame = frames["ordinary_teacher"]
        return by_replicate(frame[frame["quantity"] == quantity])

    return measure


def _ahead(frames: Mapping[str, pd.DataFrame]) -> np.ndarray:
    """Of all races the largest: a single one above the bound would refute the lemma."""
    races = frames["races"]
    ahead = races[races["head_start"] > 0]
    return np.array([(ahead["growth"] / ahead["bound"]).max()])


def _identity(name: str, quantity: str, *, source: str, statement: str, what: str) -> Claim:
    return Claim(
        f"mrp/{name}",
        IDENTITY,
        source=source,
        statement=statement,
        quantity=f"relative error {what}, largest over q",
        low=0.0,
        high=ROUNDING,
        reason=EXACT,
        measure=_worst(quantity),
        artefact=INSTANCES,
        possible=POSITIVE,
        statistic="exact",
    )


SMALL = needs(
    oracles__replicates=10,
    oracles__pretraining__max_steps=2000,
    oracles__ordinary_teacher__steps=500,
)

CLAIMS: tuple[Claim, ...] = (
    _identity(
        "t1-expected-loss-teacher-student",
        "teacher_student_loss",
        source="Equation (3)",
        statement="The expectation of the teacher-student loss over masks has the printed form.",
        what="of the closed form against the sum over all masks",
    ),
    _identity(
        "t1-gradient-teacher-student",
        "teacher_student_gradient",
        source="Fact 2.1 / D.1",
        statement="The gradient of the expected teacher-student loss is the printed one.",
        what="against automatic differentiation of the sum over all masks",
    ),
    _identity(
        "t2-expected-loss-mae",
        "mae_loss",
        source="Appendix H (later version)",
        statement="The expectation of the MAE loss over masks has the printed form.",
        what="of the closed form against the sum over all masks",
    ),
    Claim(
        "mrp/t2-gradient-mae-as-printed",
        THEOREM,
        source="Fact 2.2 (later version), as printed",
        statement="The gradient of the expected MAE loss is sum_p A_rp Delta_p.",
        quantity="relative error of the printed vector against the gradient, random inputs, "
        "mean over q and over the size of the kernels",
        low=0.0,
        high=ROUNDING,
        possible=POSITIVE,
        statistic="exact",
        reason=EXACT + " The second term swaps the roles of x_p and Delta_p.",
        measure=_typical("printed_relative_error"),
        artefact=INSTANCES,
    ),
    _identity(
        "t2-gradient-mae-corrected",
        "mae_gradient",
        source="Fact 2.2, corrected: sum_p [S_rp Delta_p + R'_rp <w_r, Delta_p> x_p]",
        statement="The printed gradient of the expected MAE loss, its roles of x_p and Delta_p put "
        "right, is the gradient.",
        what="against automatic differentiation of the sum over all masks",
    ),
    _identity(
        "t2-printed-gradient-parallel",
        "parallel_relative_error",
        source="Fact 2.2 (later version), as printed",
        statement="With one kernel and patches along it the printed vector is the gradient.",
        what="of the printed vector against the gradient",
    ),
    Claim(
        "mrp/t2-printed-gradient-captures",
        OBSERVATION,
        source="Control (ours) to Fact 2.2",
        statement="Training with the printed vector captures every feature all the same.",
        quantity="share of features captured on multi-view data",
        low=0.99,
        high=1.0,
        possible=SHARE,
        reason="While kernels are small both vectors agree to leading order, and it is then that "
        "it is decided which kernel wins; pilots: 1.0 in ten of ten.",
        measure=lambda frames: _of_runs(frames, "as_printed", "captured"),
        artefact=RUNS,
        out_of_reach=SMALL,
    ),
    Claim(
        "mrp/t2-printed-gradient-hits",
        OBSERVATION,
        source="Control (ours) to Fact 2.2",
        statement="Training with the printed vector captures all features as fast as training with "
        "the gradient does.",
        quantity="steps until all features are captured, printed over true, paired",
        low=0.9,
        high=1.1,
        possible=POSITIVE,
        reason="As above; pilots: 0.88-1.21 a replicate, where a kernel that is won by another "
        "feature makes the difference, 1.01 in the mean.",
        measure=_hit_ratio,
        artefact=RUNS,
        out_of_reach=SMALL,
    ),
    _identity(
        "t3-unbiased-decoder",
        "unbiased",
        source="c(theta) = 1/theta, section 3.2",
        statement="With the decoder scale 1/theta the masked output is unbiased.",
        what="of the mean output over all masks against the unmasked output",
    ),
    _identity(
        "t4-slope-before-capture",
        "polynomial_slope",
        source="Section 3.2 (teacher factor); control (ours)",
        statement="A kernel that is small grows by C_p z R R' [C_p (tau^q - 1) - (1/theta - 1)].",
        what="of this slope against the gradient",
    ),
    Claim(
        "mrp/t4-critical-teacher-factor",
        IDENTITY,
        source="Section 3.2 (teacher factor); control (ours)",
        statement="A kernel grows if and only if tau > (1 + (1-theta)/(C_p theta))^(1/q).",
        quantity="share of instances in which the gradient's sign does not turn within 0.1 % of it",
        low=0.0,
        high=0.0,
        possible=SHARE,
        statistic="exact",
        reason=EXACT,
        measure=_worst("critical_factor"),
        artefact=INSTANCES,
    ),
    _identity(
        "t4-slope-after-capture",
        "captured_slope",
        source="Section 3.2 (teacher factor); control (ours)",
        statement="A kernel that is captured goes on by C_p z [C_p delta_t a z + (1/theta - 1)"
        "(1 - 1/q) varrho]: the mask variance cancels but for the offset of the activation.",
        what="of this slope against the gradient",
    ),
    Claim(
        "mrp/t4-ordinary-teacher-shrinks",
        CONTROL,
        source="Control (ours) to the teacher factor",
        statement="With an ordinary copy as teacher (tau = 1) the kernels shrink.",
        quantity="largest correlation with a feature, after training over before",
        low=0.0,
        high=0.9,
        possible=POSITIVE,
        reason="The slope is -(1/theta - 1) C_p z R R' < 0; pilots: 0.37-0.60.",
        measure=_ordinary("kept"),
        artefact=ORDINARY,
        out_of_reach=SMALL,
    ),
    Claim(
        "mrp/t17-sequence-lemma",
        THEOREM,
        source="Lemma F.4 / E.4 (Allen-Zhu & Li, C.19)",
        statement="The sequence that starts behind is still near its start when the first arrives.",
        quantity="growth of the second sequence over the bound (1 - (1+h)^-(q-2))^(-1/(q-2)), "
        "h the head start, largest of all races",
        low=0.0,
        high=1.001,
        possible=POSITIVE,
        statistic="exact",
        reason="The bound is exact for continuous time and a distant goal; a finite goal and steps "
        "of finite size can only lower it.",
        measure=_ahead,
        artefact=RACES,
    ),
)
