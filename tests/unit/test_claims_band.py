"""What a claim reads off a frame, and the verdict on a number at the very end of its band."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from featlearn.core.claims import (
    DIFFERENCE_OF_SHARES,
    FAILS,
    HOLDS,
    NOT_SHOWN,
    POSITIVE,
    SHARE,
    THEOREM,
    UNDECIDED,
    Claim,
    Frames,
    judge,
    ledger,
    needs,
)
from featlearn.core.stats import Estimate, estimate_median, estimate_share, per_replicate


def claim(low, high, values=(1.0,), **parts):
    return Claim(
        "mrp/x", THEOREM, source="", statement="", quantity="", low=low, high=high, reason="",
        measure=lambda _: np.array(values), artefact="", **parts,
    )  # fmt: skip


def judged(low, high, values, config=None, **parts):
    return ledger([claim(low, high, values, **parts)], {}, config or {}).iloc[0]


@pytest.mark.parametrize(("measured", "verdict"), [
    (float(np.mean([0.95] + [1.0] * 9)), HOLDS),  # 199 of 200; rounds to just below 0.995
    (0.995, HOLDS),
    (1.0, HOLDS),
    (0.9949, FAILS),
    (0.995 - 1e-9, FAILS),
    (1 + 1e-9, FAILS),
])  # fmt: skip
def test_both_ends_of_a_band_belong_to_it_whatever_the_rounding(measured, verdict):
    assert judge(claim(0.995, 1.0), Estimate(measured, measured, measured, 10), {}) == verdict


@pytest.mark.parametrize(("values", "verdict"), [
    ((0.5, 0.5, 0.5), HOLDS),
    ((0.45, 0.5, 0.55), HOLDS),  # 0.376 to 0.624
    ((0.2, 0.5, 0.8), UNDECIDED),  # the mean is in the middle of the band
    ((0.8, 0.81, 0.79), FAILS),
    ((0.5, 0.7, 0.9), UNDECIDED),  # the mean lies at its end
    ((0.7, 0.8, 0.9), UNDECIDED),  # the mean lies beyond it, 0.552 within
    ((0.5,), UNDECIDED),
])  # fmt: skip
def test_the_verdict_is_about_the_whole_interval(values, verdict):
    assert judged(0.3, 0.7, values)["verdict"] == verdict


def test_an_end_at_the_edge_of_what_is_possible_is_none():
    values = (0.95, 1.0, 1.0, 1.0)  # the interval of t reaches beyond 1
    assert judged(0.9, 1.0, values)["verdict"] == UNDECIDED
    row = judged(0.9, 1.0, values, possible=SHARE)
    assert (row["verdict"], row["interval_high"]) == (HOLDS, 1.0)
    assert judged(0.0, 1.0, (0.1, 0.9, 0.2), possible=POSITIVE)["verdict"] == UNDECIDED
    with pytest.raises(ValueError, match="all possible values"):
        claim(-1, 1, possible=DIFFERENCE_OF_SHARES)
    with pytest.raises(ValueError, match="none of the possible values"):
        judged(0.5, 1.0, (2.0, 2.0), possible=SHARE)


def test_what_a_scale_cannot_show_is_told_by_what_is_too_small():
    reach = needs(growth__training__steps=100, growth__replicates=3)
    short = {"growth": {"training": {"steps": 10}, "replicates": 3}}
    assert "10 steps and 3 replicates; " in reach(short)
    values = (0.0, 0.1, 0.2)
    long = {"growth": {"training": {"steps": 100}, "replicates": 3}}
    assert judged(0.9, 1.0, values, short, out_of_reach=reach)["verdict"] == NOT_SHOWN
    assert judged(0.9, 1.0, values, long, out_of_reach=reach)["verdict"] == FAILS
    # what is seen all the same, is seen
    assert judged(-1.0, 1.0, values, short, out_of_reach=reach)["verdict"] == HOLDS


def test_so_many_replicates_would_decide():
    values = np.array([0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.45, 0.65])
    row = judged(0.5, 1.0, values)
    assert row["verdict"] == UNDECIDED
    again = np.tile(values, 50)  # the same mean and nearly the same scatter
    enough = again[: 8 * round(row["would_decide"] / 8 + 0.5)]
    fewer = again[: 8 * int(row["would_decide"] / 8 - 1)]
    assert judged(0.5, 1.0, enough)["verdict"] == HOLDS
    assert judged(0.5, 1.0, fewer)["verdict"] == UNDECIDED
    assert judged(0.5, 1.0, (0.4, 0.6))["would_decide"] == np.inf
    assert np.isnan(judged(0.5, 1.0, (0.7, 0.7))["would_decide"])


def test_the_effect_that_is_told_is_found_four_times_in_five():
    rng = np.random.default_rng(1)
    effect = np.mean([judged(0, 1, rng.normal(size=6))["effect"] for _ in range(200)])
    rows = [judged(0.0, 99.0, rng.normal(effect, 1, 6))["verdict"] for _ in range(400)]
    assert 0.72 < np.mean([verdict == HOLDS for verdict in rows]) < 0.88


def test_a_share_of_replicates_is_uncertain_even_if_all_agree():
    row = judged(0.9, 1.0, [1.0] * 5, statistic="share", possible=SHARE)
    assert (row["verdict"], row["interval_high"]) == (UNDECIDED, 1.0)
    # Wilson (1927), 20 of 25
    seen = estimate_share(np.array([1.0] * 20 + [0.0] * 5))
    assert (seen.low, seen.high) == pytest.approx((0.6087, 0.9114), abs=1e-4)
    assert judged(0.5, 1.0, [1.0] * 20, statistic="share", possible=SHARE)["verdict"] == HOLDS
    with pytest.raises(ValueError, match="0 or 1"):
        judged(0.5, 1.0, [0.5], statistic="share")


def test_a_median_has_the_interval_of_order_statistics_and_needs_six():
    values = np.arange(10.0)
    seen = estimate_median(values)
    assert (seen.mean, seen.low, seen.high) == (4.5, 1.0, 8.0)  # ranks 2 and 9: 97.9 %
    assert np.isnan(estimate_median(values[:5]).low)
    assert (estimate_median(values[:6]).low, estimate_median(values[:6]).high) == (0.0, 5.0)
    heavy = [1.0] * 9 + [1e9]
    assert judged(0.5, 2.0, heavy, statistic="median")["verdict"] == HOLDS


def test_one_number_a_replicate_is_read_or_refused():
    frame = pd.DataFrame(
        {
            "replicate": [1, 0, 0, 1],
            "theta": [0.1 + 0.2, 0.3, 0.8, 0.8],
            "bound": [np.nan, np.nan, 1.0, 1.0],
            "model": ["a", "a", "b", "b"],
            "value": [3, 2, 5, 7],
        }
    )
    assert per_replicate(frame, theta=0.3).tolist() == [2, 3]
    assert per_replicate(frame, model="b", theta=0.8).tolist() == [5, 7]
    assert per_replicate(frame, bound=None).tolist() == [2, 3]
    with pytest.raises(KeyError, match="no row with"):
        per_replicate(frame, theta=0.5)
    with pytest.raises(ValueError, match="several rows a replicate"):
        per_replicate(frame)


def count_of(values, frame, config=None, low=0.0, high=0.9, **more):
    """The row of a claim that gives ``values`` after it has read a frame, if there is one."""

    def measure(frames):
        return np.asarray(values) if frame is None else frames["curves"] is None or values

    frames = Frames(lambda name: frame, ["curves"], {}, {"curves": "toy/curves.parquet"})
    return ledger([replace(claim(low, high, **more), measure=measure)], frames, config or {}).iloc[
        0
    ]


STEPS = pd.DataFrame(
    [{"replicate": r, "arm": arm, "step": s} for r in range(10) for s in range(12) for arm in "ab"]
)


def test_a_claim_gives_one_number_a_replicate():
    values = np.linspace(0.4, 0.6, 120)
    for some in (values, values[:7], values[:1]):
        with pytest.raises(ValueError, match="one number a replicate"):
            count_of(some, STEPS)
    assert count_of(values[:10], STEPS)["replicates"] == 10
    few = STEPS[(STEPS["arm"] == "a") | (STEPS["replicate"] < 4)]
    for count in (10, 4):
        assert count_of(np.linspace(0, 1, count), few)["replicates"] == count
    one = STEPS[(STEPS["arm"] == "a") | (STEPS["replicate"] < 1)]
    assert count_of([0.5], one)["replicates"] == 1
    with pytest.raises(ValueError, match="one number a replicate"):  # no setting: a number
        count_of(
            [0.5], one[one["arm"] == "a"].assign(step=lambda own: own["step"] * own["replicate"])
        )
    for value in (0.0, 0.75):  # a limit that all reach, or three of four things, may be
        assert count_of([value] * 10, STEPS)["verdict"] == HOLDS
    row = judged(0.0, 1.0, (0.5,), statistic="exact")
    assert (row["verdict"], row["effect"]) == (HOLDS, 0.0)


@pytest.mark.parametrize(("values", "statistic"), [
    (np.linspace(0, 1, 10), "exact"),
    ([0.5], "exact"),  # the mean of what was sampled
    (np.ones((7, 3)), "exponent"),
])  # fmt: skip
def test_numbers_that_were_sampled_are_not_exact_and_an_exponent_has_all(values, statistic):
    with pytest.raises(ValueError, match="must be one number"):
        count_of(values, STEPS, statistic=statistic)


@pytest.mark.parametrize(
    ("values", "statistic"),
    [([0.4991] * 10, "mean"), ([0.4991] * 10, "median"), ([[0.4123, 0.5123]] * 10, "exponent")],
)
def test_replicates_that_are_all_alike_have_no_interval(values, statistic):
    row = count_of(values, STEPS, statistic=statistic)
    assert row["verdict"] == UNDECIDED
    assert math.isnan(row["interval_low"])


def test_two_replicates_of_one_stream_have_no_interval():
    frame = STEPS.assign(value=np.random.default_rng(0).normal(size=len(STEPS)))
    rows = frame["replicate"]
    frame.loc[rows == 7, "value"] = frame.loc[rows == 3, "value"].to_numpy()
    row = count_of(np.linspace(0.4, 0.6, 10), frame)
    assert row["verdict"] == UNDECIDED
    assert "Replicates 3 and 7 of curves hold the same numbers" in row["reason"]
    # 0.4 of one replicate may be 0.4 of another
    shares = frame.assign(value=frame["value"].round(1).astype("float32"))
    assert count_of(np.linspace(0.4, 0.6, 10), shares)["verdict"] == HOLDS


@pytest.mark.parametrize(("frame", "config", "told"), [
    (STEPS[STEPS["replicate"] != 3], {}, "curves lacks replicate 3"),
    (STEPS.assign(value=np.r_[np.nan, np.ones(239)]), {}, "replicate 0 of curves lacks a numb"),
    (STEPS, {"a": [{"replicates": 12}], "steps": 10}, "12 of them in the config"),
    (None, {}, "must read a frame"),
])  # fmt: skip
def test_a_replicate_that_is_lost_is_missed(frame, config, told):
    with pytest.raises(ValueError, match=told):
        count_of(np.linspace(0, 1, 10), frame, config)


def test_a_hitting_time_may_be_empty_where_none_came():
    random = np.random.default_rng(0)
    times = STEPS.assign(value=np.r_[np.nan, random.normal(size=len(STEPS) - 1)], ended=100.0)
    assert count_of(np.linspace(0.4, 0.6, 10), times)["verdict"] == HOLDS
