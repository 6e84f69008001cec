"""The keep probability theta: teacher-student needs masks, MAE does not."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from featlearn.core.claims import OBSERVATION, POSITIVE, SHARE, THEOREM, Claim, needs
from featlearn.core.stats import per_replicate
from featlearn.mrp.claims.common import by_replicate

TRADE_OFF = "mrp/measurements/keep-probability/trade-off.parquet"
REST = "mrp/measurements/keep-probability/fixed-points.parquet"

#: A second kernel below this share of the strongest counts as none.
ALONE = 0.1


def _values(
    frames: Mapping[str, pd.DataFrame], framework: str, quantity: str, theta: float
) -> np.ndarray:
    return per_replicate(frames["trade_off"], framework=framework, quantity=quantity, theta=theta)


def _slow_down(frames: Mapping[str, pd.DataFrame]) -> np.ndarray:
    slow, fast = (_values(frames, "teacher_student", "all_captured", t) for t in (0.8, 0.2))
    return slow / fast


def _no_slow_down(frames: Mapping[str, pd.DataFrame]) -> np.ndarray:
    slow, fast = (_values(frames, "mae", "all_captured", t) for t in (1.0, 0.2))
    return slow / fast


def _loss_exponent(frames: Mapping[str, pd.DataFrame]) -> np.ndarray:
    rows = frames["trade_off"]
    own = rows[(rows["framework"] == "teacher_student") & (rows["quantity"] == "initial_loss")]
    low, high = sorted(own["theta"].unique())[:2]
    ratio = by_replicate(own[own["theta"] == low]) / by_replicate(own[own["theta"] == high])
    return np.log(ratio) / np.log(low / high)


def alone(fixed_points: pd.DataFrame) -> pd.DataFrame:
    """Features that one kernel holds."""
    return fixed_points[fixed_points["second"] < ALONE * fixed_points["strength"]]


def _rest_error(frames: Mapping[str, pd.DataFrame]) -> np.ndarray:
    own = alone(frames["fixed_points"])
    return by_replicate(own.assign(value=(own["strength"] / own["formula"] - 1).abs()))


def _claim(name: str, kind: str, **parts: Any) -> Claim:
    reach = needs(
        keep_probability__replicates=10,
        keep_probability__teacher_student__max_steps=1000,
        keep_probability__mae__max_steps=2000,
    )
    return Claim(f"mrp/{name}", kind, **{"artefact": TRADE_OFF, "out_of_reach": reach, **parts})


CLAIMS: tuple[Claim, ...] = (
    _claim(
        "t12-teacher-student-slows-down",
        THEOREM,
        source="Paragraph on the role of theta (later version)",
        statement="In the teacher-student framework learning slows down as theta tends to 1.",
        quantity="steps until all features are captured, theta = 0.8 over 0.2, paired",
        low=10.0,
        high=math.inf,
        possible=POSITIVE,
        reason="A run that was cut off counts with its length. The growth constant contains "
        "tau^q - 1 with tau = 1/theta: about 125 against 1 before the capture, less after it; "
        "pilots: 21 and 24.",
        measure=_slow_down,
    ),
    _claim(
        "t12-loss-diverges",
        THEOREM,
        source="Paragraph on the role of theta (later version)",
        statement="The teacher-student loss diverges as theta tends to 0.",
        quantity="exponent of the expected loss of the initial kernels in theta, smallest thetas",
        low=-2.1,
        high=-1.0,
        reason="The variance over masks grows like 1/theta, the square of the teacher, whose "
        "kernels grow like 1/theta, like 1/theta^2.",
        measure=_loss_exponent,
        out_of_reach=None,
    ),
    _claim(
        "t12-mae-learns-nothing-as-printed",
        THEOREM,
        source="Paragraph on the role of theta (later version), which says so of MAE in words",
        statement="As theta tends to 1 no features are learnt.",
        quantity="share of features captured by MAE pre-training at theta = 1",
        low=0.0,
        high=0.05,
        possible=SHARE,
        reason="None, but for an accident.",
        measure=lambda frames: _values(frames, "mae", "captured", 1.0),
    ),
    _claim(
        "t12-mae-captures-without-masks",
        OBSERVATION,
        source="Control (ours) to the role of theta",
        statement="In the MAE framework all features are captured without any mask.",
        quantity="share of features captured by MAE pre-training at theta = 1",
        low=0.995,
        high=1.0,
        possible=SHARE,
        reason="The growth constant (1 + q) E[sum z^(q+1)] has no theta in it.",
        measure=lambda frames: _values(frames, "mae", "captured", 1.0),
    ),
    _claim(
        "t12-mae-time-without-theta",
        OBSERVATION,
        source="Control (ours) to the role of theta",
        statement="In the MAE framework the time to capture does not depend on theta.",
        quantity="steps until all features are captured, theta = 1 over 0.2, paired",
        low=0.9,
        high=1.02,
        possible=POSITIVE,
        reason="No theta in the growth constant; a strong brake at theta = 0.2 costs the last "
        "steps a few per cent.",
        measure=_no_slow_down,
    ),
    _claim(
        "t10-fixed-point-network",
        THEOREM,
        source="Lemma H.9, finite form, averaged over the strengths of the data",
        statement="A feature that one kernel holds comes to rest where the gradient, averaged over "
        "the training data, vanishes.",
        quantity="relative distance of Lambda from this root, mean over theta and features",
        low=0.0,
        high=0.005,
        possible=POSITIVE,
        reason="What is left is noise, other kernels and the end of training; pilots: 0.0001.",
        measure=_rest_error,
        artefact=REST,
    ),
)
