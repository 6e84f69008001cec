"""Claims as methods, what they read off a frame, and verdicts at the very end of a band."""

import json
import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from featlearn.core.evidence.claim_methods import Claims, of_module, premise
from featlearn.core.evidence.claim_methods import claim as declare
from featlearn.core.evidence.claims import (
    COLUMNS,
    DIFFERENCE_OF_SHARES,
    FAILS,
    HOLDS,
    NOT_SHOWN,
    OBSERVATION,
    OUTSIDE,
    POSITIVE,
    SHARE,
    THEOREM,
    UNDECIDED,
    Claim,
    Frames,
    Premise,
    declared,
    judge,
    ledger,
    needs,
)
from featlearn.core.evidence.stats import Estimate, estimate_median, estimate_share, per_replicate


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
    rows = [(1, 0.1 + 0.2, np.nan, "a", 3), (0, 0.3, np.nan, "a", 2), (0, 0.8, 1, "b", 5),
            (1, 0.8, 1, "b", 7)]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["replicate", "theta", "bound", "model", "value"])
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
    one = replace(claim(low, high, **more), measure=measure)
    return ledger([one], frames, config or {}).iloc[0]


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
    one = one[one["arm"] == "a"].assign(step=lambda own: own["step"] * own["replicate"])
    with pytest.raises(ValueError, match="one number a replicate"):  # no setting: a number
        count_of([0.5], one)
    with pytest.raises(ValueError, match="one number a replicate"):  # as the config has it
        count_of(values, STEPS[["step"]], {"replicates": 10})
    for value, verdict in ((0.9, HOLDS), (0.75, HOLDS), (0.0, UNDECIDED)):  # or a tie
        assert count_of([value] * 10, STEPS)["verdict"] == verdict
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


GROWTH = pd.DataFrame({"replicate": [0, 1, 2], "value": [1.0, 1.1, 0.9]})


class Base(Claims):
    """No paper: for others to build on."""

    def of(self, column):
        return self.growth[column]


class Growth(Base):
    paper, kind, possible = "toy", THEOREM, POSITIVE
    out_of_reach = needs(growth__replicates=10)
    changed = "The sizes."

    @declare("Lemma 1", "rate", low=0.5, high=1.5, paper_says="it grows")
    def grows_as_printed(self):
        """The rate is
        one.

        A half is

        far: $x_{i}$.
        """
        return self.of("value")

    @declare("Figure {n}", "rate of {arm}", id="fig-{n}-{arm}", changed="The band of {arm}.", each=[
        {"n": 1, "arm": "wide", "high": 2.0},
        {"n": 2, "arm": "narrow", "high": 1.0, "kind": OBSERVATION, "out_of_reach": None},
    ])  # fmt: skip
    def of_arm(self, n):
        """Of {arm} the rate is small.

        By eye.
        """
        return n * self.of("value")


def made(cls=Growth, **words):
    return {one.claim: one for one in cls({}, **words)}


def test_a_method_says_what_a_claim_says_or_is_refused():
    one = made()["toy/grows-as-printed"]
    assert (one.statement, one.reason) == ("The rate is one.", "A half is far: $x_{i}$.")
    assert (one.source, one.quantity, one.low, one.high) == ("Lemma 1", "rate", 0.5, 1.5)
    assert (one.kind, one.possible, one.changed) == (THEOREM, POSITIVE, "The sizes.")
    assert one.paper_says == "it grows"
    assert one.out_of_reach({"growth": {"replicates": 3}}).startswith("3 replicates")
    assert one.measure({"growth": GROWTH}).tolist() == [1.0, 1.1, 0.9]
    bare = type("Bare", (Growth,), {"more": declare("", "")(lambda self: [])})
    with pytest.raises(ValueError, match="must have a docstring"):
        made(bare)


def test_a_family_fills_its_words_and_may_say_other_fields():
    wide, narrow = made()["toy/fig-1-wide"], made()["toy/fig-2-narrow"]
    assert (wide.source, wide.quantity, wide.high) == ("Figure 1", "rate of wide", 2.0)
    assert (wide.low, wide.kind) == (-math.inf, THEOREM)
    assert wide.statement == "Of wide the rate is small."
    assert wide.changed == "The sizes. The band of wide."
    assert (narrow.kind, narrow.out_of_reach) == (OBSERVATION, None)
    assert narrow.measure({"growth": GROWTH}).tolist() == [2.0, 2.2, 1.8]


def test_claims_of_a_module_are_of_its_classes_that_name_a_paper():
    module = SimpleNamespace(
        __name__=__name__, Base=Base, Growth=Growth, other=claim, Claims=Claims
    )
    assert [one.claim for one in of_module(module, {})] == [*made()]
    assert [one.claim for one in declared(module, {})] == [*made()]
    assert next(iter(made(prefix="digits-"))) == "toy/digits-grows-as-printed"


def test_the_raw_numbers_of_a_claim_lie_in_the_file_that_it_reads_first():
    frames = Frames(lambda name: GROWTH, ["quoted", "growth"], {}, {"growth": "toy/growth.parquet"})
    rows = ledger(list(made().values()), frames, {"growth": {"replicates": 3}})
    assert set(rows["artefact"]) == {"toy/growth.parquet"}
    assert list(rows.columns) == list(COLUMNS)
    assert list(rows["paper_says"]) == ["it grows", "", ""]


def test_a_quotation_is_short_and_a_frame_that_is_none_is_named():
    with pytest.raises(ValueError, match="quotes more than 20 words"):
        made(type("Long", (Growth,), {"paper_says": "word " * 21}))

    def lost(self):
        """It is there."""
        return self.grwoth

    marked = declare("s", "q", low=0)(lost)
    own = type("Lost", (Claims,), {"paper": "toy", "kind": THEOREM, "a": marked})
    with pytest.raises(ValueError, match="claim toy/lost: cannot be measured: no 'grwoth'"):
        ledger(list(made(own).values()), {"growth": GROWTH}, {})


class Lottery(Claims):
    paper, kind, premises = "toy", THEOREM, ("few_kernels",)

    @premise("<=")
    def few_kernels(self):
        """m <= sqrt({letter})"""
        return self.config["kernels"], math.sqrt(self.config["classes"])

    @premise(">=")
    def many_anchors(self):
        """K >= d"""
        return len(self.growth), 3

    @declare("Theorem 8", "purity", low=0.9)
    def pure(self):
        """Each kernel is pure.

        All.
        """
        return self.growth["value"] * self.config["purity"]

    def others(self):
        """Purer by a tenth, and chance."""
        return {"purer": self.growth["value"] + 0.1, "chance": self.config["chance"]}

    @declare("Theorem 9", "purity", low=0.9, premises=("many_anchors",), baselines="others")
    def anchored(self):
        """With many anchors as well.

        All.
        """
        return self.growth["value"] * self.config["purity"]


@pytest.mark.parametrize(("kernels", "purity", "verdict", "met"), [
    (3, 0.1, FAILS, "met"),
    (40, 0.1, OUTSIDE, "violated"),
    (40, 1.3, HOLDS, "violated"),
    (40, 0.9, UNDECIDED, "violated"),
])  # fmt: skip
def test_a_theorem_fails_only_with_its_premises_met(kernels, purity, verdict, met):
    config = {"kernels": kernels, "classes": 10, "purity": purity, "chance": 0.5}
    rows = ledger(list(Lottery(config, letter="k")), {"growth": GROWTH}, config)
    pure, anchored = rows.to_dict("records")
    assert (pure["verdict"], pure["premises_met"]) == (verdict, met)
    assert pure["premises"] == f"m <= sqrt(k): at most 3.16 needed, {kernels} used, {met}"
    assert anchored["premises"] == "K >= d: at least 3 needed, 3 used, met"
    assert (pure["baselines"], json.loads(anchored["baselines"])) == (
        "",
        {"purer": 1.1, "chance": 0.5},
    )
    assert anchored["verdict"] == (FAILS if verdict == OUTSIDE else verdict)


def test_a_premise_that_cannot_be_computed_is_refused():
    class Unknown(Lottery):
        premises = ("pure",)

    with pytest.raises(ValueError, match="must name methods with @premise, got 'pure'"):
        list(Unknown({}))
    with pytest.raises(ValueError, match="relation must be <= or >=, got '<'"):
        Premise("m < k", "<", lambda _: (1, 2))
    lost = Lottery({"kernels": math.nan, "classes": 1, "purity": 1})
    with pytest.raises(ValueError, match="toy/pure: cannot be measured: premise"):
        ledger(list(lost), {"growth": GROWTH}, {})
