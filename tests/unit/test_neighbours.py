"""What neighbours do to verdicts, what a premise excuses, and what may be declared."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from featlearn.core.errors import ConfigError, FeatlearnError
from featlearn.core.evidence import neighbours
from featlearn.core.evidence.claims import (
    CONTROL,
    FAILS,
    FAILURES,
    HOLDS,
    NOT_SHOWN,
    OUTSIDE,
    THEOREM,
    UNDECIDED,
    Claim,
    Premise,
    judge,
    ledger,
    original,
)
from featlearn.core.evidence.neighbours import read, scaled
from featlearn.core.evidence.stats import Estimate, by_size, estimate_exponent, local_exponents
from featlearn.core.files import read_parquet, write_parquet
from featlearn.core.publishing import publish
from featlearn.core.publishing.ledger import SUMMARY, judged, published_frame
from featlearn.core.publishing.neighbours import gathered, page, with_neighbours
from featlearn.core.publishing.newer import with_newer
from featlearn.core.publishing.summary import anchor, failures, verdict
from featlearn.core.run.config import load
from unit import ROOT

TEXT = "m <= sqrt(k)"
numbers = st.floats(-10, 10, allow_nan=False)


def claim(values=(0.5, 0.51, 0.49), low=0.0, high=0.1, used=40.0, kind=THEOREM, **more):
    return Claim(
        "mrp/x", kind, source="", statement="", quantity="share", low=low, high=high, reason="",
        measure=lambda _: np.array(values), premises=(Premise(TEXT, "<=", lambda _: (used, 3.0)),),
        **more,
    )  # fmt: skip


def row(**more):
    return dict(ledger([claim(**more)], {}, {}).iloc[0])


def beside(name, towards="", **more):
    return row(**more) | {"neighbour": name, "towards": towards}


@given(numbers, st.floats(0, 5), numbers, st.floats(0.01, 5))
def test_a_claim_with_a_violated_premise_does_not_fail(mean, half, low, width):
    seen = Estimate(mean, mean - half, mean + half, 10)
    one = claim(low=low, high=low + width)
    assert judge(one, seen, {}, premises_met=False) != FAILS
    assert (judge(one, seen, {}, premises_met=False) == OUTSIDE) == (
        judge(one, seen, {}, premises_met=True) == FAILS
    )


def test_what_failed_is_one_of_a_list_and_of_a_theorem_that_does_not_hold():
    assert row(failure="misprint", used=1.0)["what_failed"] == "misprint"
    assert row(failure="misprint", used=1.0, high=1.0)["what_failed"] == ""  # it holds
    assert row()["what_failed"] == OUTSIDE in FAILURES
    with pytest.raises(ValueError, match="must be one of misprint"):
        claim(failure="a slip")
    with pytest.raises(ValueError, match="its premises must say"):
        claim(failure=OUTSIDE)
    with pytest.raises(ValueError, match="a control must have no failure"):
        claim(kind=CONTROL, failure="misprint")
    rows = [row(failure="misprint", used=1.0), row(failure="limit only", used=1.0), row()]
    assert failures(rows) == "misprint 1, limit only 1"


@pytest.mark.parametrize(("base", "other", "left"), [
    ({"high": 1.0}, {"high": 0.1, "used": 1.0}, UNDECIDED),  # holds, and fails there
    ({"used": 1.0}, {"high": 1.0}, UNDECIDED),  # fails, and holds there
    ({"high": 1.0, "used": 1.0}, {}, HOLDS),  # the neighbour has left the premises
    ({"high": 1.0}, {}, UNDECIDED),  # the run had left them as well
    ({"used": 1.0}, {"used": 1.0}, FAILS),
    ({"high": 1.0}, {"values": (0.0, 1.0, 0.5)}, HOLDS),  # it decides nothing
])  # fmt: skip
def test_a_verdict_that_a_neighbour_turns_is_undecided_and_says_with_what(base, other, left):
    told = with_neighbours(row(**base), [beside("four times the steps", **other)])
    assert told["verdict"] == left
    assert told["turns_with"].startswith("four times the steps: ") == (left == UNDECIDED)


@pytest.mark.parametrize(("quantity", "left"), [
    ("share at 1,024 anchors", UNDECIDED), ("smaller of two shares at 256 anchors", HOLDS),
])  # fmt: skip
def test_a_neighbour_that_measured_something_else_does_not_count(quantity, left):
    fails = beside("four times the steps", high=0.1, used=1.0) | {"quantity": quantity}
    told = with_neighbours(row(high=1.0) | {"quantity": "share at 256 anchors"}, [fails])
    assert told["verdict"] == left


@pytest.mark.parametrize(("values", "used", "left", "way"), [
    ((0.2, 0.21, 0.19), 10.0, OUTSIDE, "towards the band"),
    ((0.9, 0.91, 0.89), 10.0, OUTSIDE, "away from the band"),
    ((0.5, 0.52, 0.48), 10.0, OUTSIDE, ""), ((0.5, 0.52, 0.48), 1.0, FAILS, ""),  # it does not move
    ((0.9, 0.91, 0.89), 40.0, OUTSIDE, ""),  # the premise is no nearer
])  # fmt: skip
def test_a_claim_outside_its_premises_fails_where_they_are_met(values, used, left, way):
    told = with_neighbours(row(), [beside("fewer kernels", TEXT, values=values, used=used)])
    assert told["verdict"] == left
    assert told["turns_with"].startswith("fewer kernels: fails, ") == (used == 1.0)
    assert told["approached"].endswith(way)
    assert bool(told["approached"]) == bool(way)


def test_a_claim_outside_its_premises_says_so_and_an_unknown_premise_is_refused():
    assert verdict(row(high=1.0)) == "holds, outside its premises"
    assert verdict(row(high=1.0, used=1.0)) == "holds"
    about = {"name": "fewer kernels", "towards": "r > 36"}
    with pytest.raises(FeatlearnError, match=r"fewer kernels.*m <= sqrt\(k\).*'r > 36'"):
        gathered([(about, pd.DataFrame([row()]))])


def test_a_published_ledger_is_signed_with_the_neighbours_of_its_run(tmp_path):
    config = {"seed": 0, "run": "mine", "scale": "desk"}
    (tmp_path / SUMMARY).write_text(json.dumps({"commit": "a" * 40, "config": config}))
    run = pd.DataFrame([row(high=1.0), row(high=1.0) | {"claim": "mrp/y"}])
    about = {"name": "four times the steps", "towards": ""}
    found = gathered([(about, pd.DataFrame([row(used=1.0)]))])
    write_parquet(run, tmp_path / "claims.parquet")
    assert set(published_frame(tmp_path)["verdict"]) == {HOLDS}
    (tmp_path / "neighbours/toy").mkdir(parents=True)
    write_parquet(found, tmp_path / "neighbours/toy/averaging.parquet")
    frame = published_frame(tmp_path)
    assert frame["verdict"].tolist() == [UNDECIDED, HOLDS]
    assert frame["alone"].tolist() == [HOLDS, HOLDS]
    assert frame["turns_with"].str.startswith("four times").tolist() == [True, False]
    write_parquet(frame, tmp_path / "claims.parquet")  # signed twice, it stays
    pd.testing.assert_frame_equal(published_frame(tmp_path), frame)
    pd.testing.assert_frame_equal(judged(tmp_path / "claims.parquet"), run)
    assert "turn 1 of 1 verdicts" in page(run, found)
    alone = page(run, pd.concat([found, found.assign(claim="toy/new")]))
    assert "The run itself has no verdict on toy/new." in alone


def test_neighbours_are_published_beside_a_run_of_the_same_verdicts_and_stay(tmp_path, monkeypatch):
    file = tmp_path / "results/mine/neighbours/mrp/a.parquet"
    target = tmp_path / publish.APART / "mine"
    for place in (file, tmp_path / "results/mine/mrp/claims/a.parquet", target / "claims.parquet"):
        place.parent.mkdir(parents=True, exist_ok=True)
        write_parquet(pd.DataFrame([beside("four times the steps", high=1.0)]), place)
    record = {"commit": "abc+"}
    monkeypatch.setattr(publish, "read_record", lambda results, _: record)
    monkeypatch.setattr(publish, "damage", lambda *_, thorough: "")
    monkeypatch.setattr(publish, "rewrite", lambda *_: None)
    with pytest.raises(FeatlearnError, match="expected a commit"):
        publish.publish_neighbours(tmp_path, file)
    record["commit"] = "abc"
    copied = publish.publish_neighbours(tmp_path, file)
    assert read_parquet(target.parent / copied)["commit"].tolist() == ["abc"]
    write_parquet(pd.DataFrame([beside("a third of the rate", high=1.0)]), file)
    publish.publish_neighbours(tmp_path, file)
    assert {*read_parquet(target.parent / copied)["neighbour"]} > {"a third of the rate"}
    # published again, the run keeps them as long as it judges their claims as it did
    write_parquet(read_parquet(target / "claims.parquet"), file.parents[2] / "claims.parquet")
    file.unlink()
    publish._copy_neighbours(file.parents[2], target, tmp_path / "staged")
    assert (tmp_path / "staged/neighbours/mrp/a.parquet").is_file()
    write_parquet(pd.DataFrame([row(used=1.0)]), file.parents[2] / "claims.parquet")
    publish._copy_neighbours(file.parents[2], target, tmp_path / "again")
    assert not (tmp_path / "again").exists()
    write_parquet(pd.DataFrame([row(used=1.0)]), file)
    for other in (row(used=1.0), row() | {"claim": "mrp/y"}):  # another verdict, or none
        write_parquet(pd.DataFrame([other]), target / "claims.parquet")
        with pytest.raises(FeatlearnError, match=r"differs from .*mine in mrp/x; expected"):
            publish.publish_neighbours(tmp_path, file)


def test_a_published_report_begins_with_the_verdicts_that_changed_since():
    claims = [row(used=1.0), row(high=1.0) | {"claim": "mrp/y"}]
    shown = [f'<li id="{anchor(one)}" data-verdict="{one["verdict"]}">' for one in claims]
    report = f'<header>\n<ul class="first">\n</header>{"".join(shown)}'
    assert with_newer(report, pd.DataFrame(claims)) == report
    claims[1]["verdict"] = UNDECIDED
    newer = with_newer(report, pd.DataFrame(claims))
    assert "mrp/y</code></a>: holds, now undecided" in newer
    assert "mrp/x</code>" not in newer
    assert "0 hold, 1 fail, 1 are open" in newer
    assert with_newer(newer, pd.DataFrame(claims)) == newer
    claims[1]["verdict"] = HOLDS
    assert with_newer(newer, pd.DataFrame(claims)) == report


@pytest.mark.parametrize(
    ("old", "new", "value"),
    [(600, "x4", 2400), (600, "/3", 200), (1.0, "/3", 0.333333), ([1, 10], "x4", [4, 40]),
     (0.3, "x1.5", 0.45), ("all", "one", "one"), (7, 8, 8)],
)  # fmt: skip
def test_a_factor_is_one_of_what_the_run_has(old, new, value):
    assert scaled(old, new) == value
    assert type(scaled(old, new)) is type(value)


@pytest.mark.parametrize(("old", "new"), [(100, "/3"), (True, "x4"), ("all", "x4"), (None, "x2")])
def test_a_factor_of_what_is_none_is_refused(old, new):
    with pytest.raises(ConfigError, match="must be"):
        scaled(old, new)


STAGES = "contrastive/stages"


@pytest.mark.parametrize(
    ("declared", "words"),
    [
        ({"contrastive/stage": []}, "contrastive/stage must be an experiment"),
        ({STAGES: [{"name": "a", "change": {"contrastive.stages.training.step": "x4"}}]},
         "contrastive/stages, a: .*step: unknown key; did you mean .*training.steps"),
        ({STAGES: [{"name": "a", "change": {"contrastive.stages.training.steps": -1}}]},
         "contrastive.stages.training.steps must be"),
        ({STAGES: [{"name": "a", "change": {"contrastive.stages.training.steps": "x4"}}] * 2},
         "names that differ, got 'a' twice"),
        ({STAGES: [{"name": "a", "change": {"scale": "smoke"}}]}, "scale: names what a run is"),
    ],
)  # fmt: skip
def test_a_neighbour_that_cannot_be_is_refused_by_name(declared, words):
    config = load({"scale": "smoke"}, ROOT) | {"neighbours": declared}
    with pytest.raises(ConfigError, match=words):
        list(read(config, {STAGES}, ROOT))


@pytest.mark.parametrize("scale", ["smoke", "tour", "desk", "paper"])
def test_neighbours_name_keys_that_every_scale_has(scale, monkeypatch):
    monkeypatch.setattr(neighbours, "point", lambda *given: given)
    config = load({"scale": scale}, ROOT)
    found = list(read(config, set(config["neighbours"]), ROOT))
    assert len(found) == sum(map(len, config["neighbours"].values()))


@pytest.mark.long
def test_the_neighbours_of_the_verdicts_are_valid_and_no_two_are_one():
    config = load({"scale": "desk"}, ROOT)
    found = list(read(config, set(config["neighbours"]), ROOT))
    assert len({one.point.slug for one in found}) == len(found)


def test_a_stand_in_refutes_no_printed_figure():
    reach = original("neurons__original")
    told = [
        ledger([claim(used=1.0, out_of_reach=reach)], {}, {"neurons": {"original": one}}).iloc[0]
        for one in (False, True)
    ]
    assert [one["verdict"] for one in told] == [NOT_SHOWN, FAILS]
    assert "stand-in" in told[0]["reason"]


def test_an_exponent_is_that_of_the_largest_sizes_and_as_sure_as_it_has_settled():
    sizes = np.array([10.0, 100.0, 1000.0, 10000.0])
    frame = pd.DataFrame(
        [(d, r, c * d**-0.25 * (1 + 3 / d**0.5)) for d in sizes for r, c in enumerate((1, 2, 4))],
        columns=["d", "replicate", "value"],
    )
    local = by_size(local_exponents(frame, "d"), "d")
    assert local.shape == (3, 3)
    np.testing.assert_allclose(local, np.repeat(local[:1], 3, axis=0))  # constants do not count
    whole = np.polyfit(np.log(sizes), np.log(frame[frame["replicate"] == 0]["value"]), 1)[0]
    seen = estimate_exponent(local)
    assert whole < seen.mean < -0.25  # a line through all sizes is further off
    assert seen.high - seen.mean == pytest.approx(local[0, 2] - local[0, 1])
    assert math.isnan(estimate_exponent(local[:, :1]).low)
    exact = frame.assign(value=frame["d"] ** 1.5)
    assert estimate_exponent(by_size(local_exponents(exact, "d"), "d")).half_width < 1e-12
