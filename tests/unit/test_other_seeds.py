"""Which claims of a published run have other seeds: those that both runs made alike."""

import json
import math
from pathlib import Path

import pandas as pd
import pytest

from featlearn.core.evidence.claims import FAILS, HOLDS, UNDECIDED
from featlearn.core.files import read_parquet, write_parquet
from featlearn.core.publishing import ledger
from featlearn.core.publishing.compare_runs import differing, made_alike, of_seeds
from featlearn.core.publishing.ledger import (
    SUMMARY,
    beside_published,
    judged,
    made,
    other_seeds,
    published_frame,
    read_ledger,
)
from featlearn.core.publishing.publish import _with_other_papers
from featlearn.core.publishing.summary import commits

RUNS = {"desk": "a" * 40, "desk-seed-1": "b" * 40, "desk-seed-2": "c" * 40}

CLEAN = {"replicates": 10, "data": {"patches": 4}}
CONFIG = {
    "scale": "desk",
    "threads": 1,
    "mrp": {"headline": {"replicates": 10}, "clean": CLEAN, "transfer": {"replicates": 5}},
    "gemfilter": {"depths": 3, "wired": {"layers": 2}, "trained": {}, "costs": {"models": 1}},
    "images": {"world": {"size": 16}},
}
ARTEFACTS = {
    "mrp/headline": "mrp/measurements/headline/evaluation.parquet",
    "mrp/transfer": "mrp/measurements/transfer/accuracy.parquet",
    "mrp/pictures": "mrp/measurements/images/gain.parquet",
    "gemfilter/costs": "gemfilter/measurements/costs/costs.parquet",
}


def alike_made(row: dict) -> bool:
    return True


def row(claim: str, **other) -> dict:
    return {
        "claim": claim, "paper": claim.partition("/")[0], "artefact": ARTEFACTS[claim],
        "kind": "theorem", "source": claim, "reason": "", "low": 0.0, "high": 1.0,
        "quantity": "a share",
        "measured": 0.5, "interval_low": 0.4, "interval_high": 0.6, "spread": 0.1,
        "spread_kind": "half-width", "replicates": 10, "verdict": HOLDS, **other,
    }  # fmt: skip


def published(folder: Path, changed: dict, *added: dict, runs: int = 2) -> Path:
    """Some runs; the first has ``changed`` parts of the config and further claims."""
    for seed, (run, commit) in enumerate([*RUNS.items()][:runs]):
        config = json.loads(json.dumps(CONFIG)) | {"seed": seed, "run": run, "results": run}
        rows = [row(claim) for claim in ARTEFACTS]
        if not seed:
            for place, value in changed.items():
                *way, key = place.split(".")
                part = config
                for step in way:
                    part = part[step]
                part[key] = value
            rows += added
        (folder / run).mkdir()
        (folder / run / SUMMARY).write_text(json.dumps({"commit": commit, "config": config}))
        write_parquet(pd.DataFrame(rows), folder / run / "claims.parquet")
    return folder / "desk"


def alone(folder: Path) -> set[str]:
    return {row["claim"] for row in read_ledger(folder) if not row["others"]}


@pytest.mark.parametrize(("changed", "unlike"), [
    ({}, set()),
    # an experiment that the second run did not have
    ({"mrp.noise": {"replicates": 3}}, set()),
    ({"mrp.headline": {"replicates": 20}}, {"mrp/headline"}),
    # what several experiments read, of one paper or outside of it
    ({"mrp.clean.data": {"patches": 8}}, {"mrp/transfer"}),
    ({"images.world": {"size": 8}}, {"mrp/pictures"}),
    # no section of its own: all claims of its paper may follow from it
    ({"gemfilter.depths": 4}, {"gemfilter/costs"}),
])  # fmt: skip
def test_a_claim_has_another_seed_where_what_it_reads_is_the_same(tmp_path, changed, unlike):
    assert alone(published(tmp_path, changed)) == unlike


def test_another_seed_is_published_a_few_papers_at_a_time(tmp_path):
    """Each claim keeps the commit of its run; papers of other shared settings are left out."""
    first = published(tmp_path, {})
    former, new = tmp_path / "desk-seed-1", tmp_path / "new.parquet"
    then = made(former)["config"] | {"papers": ["mrp", "gemfilter"]}
    (former / SUMMARY).write_text(json.dumps({"commit": "b" * 40, "config": then}))
    other = then | {"papers": ["mrp"], "gemfilter": {"depths": 9}}
    fresh = pd.DataFrame([row("mrp/headline", verdict=FAILS)])
    write_parquet(fresh, new)
    about = {"commit": "d" * 40, "config": other | {"threads": 2}}
    assert _with_other_papers(about, former, new)["config"] == about["config"]
    assert read_parquet(new)["claim"].tolist() == ["mrp/headline"]
    write_parquet(fresh, new)
    joined = _with_other_papers(about | {"config": other}, former, new)["config"]
    assert (joined["papers"], joined["gemfilter"]) == (["mrp", "gemfilter"], CONFIG["gemfilter"])
    (former / SUMMARY).write_text(json.dumps({"commit": "d" * 40, "config": joined}))
    write_parquet(read_parquet(new), former / "claims.parquet")
    rows = read_ledger(first)
    told = {row["claim"]: [one["commit"][0] for one in row["others"]] for row in rows}
    assert told == {
        "mrp/headline": ["d"],
        "gemfilter/costs": ["b"],
        "mrp/transfer": [],
        "mrp/pictures": [],
    }
    assert commits(rows)[1] == f"`{'d' * 12}` and `{'b' * 12}`"


def test_runs_of_other_settings_and_folders_without_a_section_are_no_pair(tmp_path):
    folder = published(tmp_path, {"threads": 2})
    assert other_seeds(folder) == []
    assert all("others" not in row for row in read_ledger(folder))
    other = CONFIG | {"mrp": CONFIG["mrp"] | {"headline": {}}}
    strange = {"artefact": "mrp/measurements/strange.parquet"}
    assert made_alike(strange, CONFIG, CONFIG, {})
    assert not made_alike(strange, CONFIG, other, {})


@pytest.mark.parametrize("other", [{"quantity": "another"}, {"spread_kind": "of a median"}])
def test_another_quantity_under_the_same_name_is_no_other_seed(other):
    rows = [row("mrp/headline", verdict=FAILS, **other)]
    (told,) = of_seeds([row("mrp/headline")], (rows, alike_made))
    assert told["others"] == []
    assert told["verdict"] == HOLDS


def test_a_new_claim_and_one_with_another_band_are_judged_by_one_seed(tmp_path):
    new = row("mrp/headline") | {"claim": "mrp/new"}
    assert alone(published(tmp_path, {}, new)) == {"mrp/new"}
    rows = [row("mrp/headline"), row("mrp/transfer", high=math.inf)]
    other = [row("mrp/headline", verdict=FAILS), row("mrp/transfer", verdict=FAILS, high=0.2)]
    told = of_seeds(rows, (other, alike_made))
    assert [one["verdict"] for one in told] == [UNDECIDED, HOLDS]
    assert [one["others"] for one in told] == [other[:1], []]


@pytest.mark.parametrize("odd", [0, 1, 2])
def test_one_seed_of_three_that_judges_otherwise_leaves_a_claim_open(odd):
    first, *others = [[row("mrp/headline", verdict=FAILS if n == odd else HOLDS)] for n in range(3)]
    (told,) = of_seeds(first, *((rows, alike_made) for rows in others))
    assert told["verdict"] == UNDECIDED
    assert differing(told) == [rows[0] for rows in others if rows[0]["verdict"] != told["alone"]]
    (told,) = of_seeds(first, *((first, alike_made) for _ in others))
    assert told["verdict"] == told["alone"]


def signed(folder: Path, verdict: str) -> Path:
    """The second run with another verdict on one claim."""
    frame = pd.read_parquet(folder.with_name("desk-seed-1") / "claims.parquet")
    frame.loc[frame["claim"] == "mrp/headline", "verdict"] = verdict
    write_parquet(frame, folder.with_name("desk-seed-1") / "claims.parquet")
    return folder


def test_the_published_ledger_has_one_verdict_a_claim_and_that_of_its_run(tmp_path):
    folder = signed(published(tmp_path, {}), FAILS)
    frame = published_frame(folder).set_index("claim")
    assert frame.loc["mrp/headline", ["verdict", "alone", "seeds"]].tolist() == [
        UNDECIDED, HOLDS, "0, 1",
    ]  # fmt: skip
    write_parquet(frame.reset_index(), folder / "claims.parquet")
    assert set(judged(folder / "claims.parquet")["verdict"]) == {HOLDS}
    assert published_frame(folder).set_index("claim").equals(frame)  # written twice, it stays


def test_a_withdrawn_verdict_is_open_and_says_why(tmp_path, monkeypatch):
    monkeypatch.setattr(ledger, "read_withdrawn", lambda _: {"mrp/headline": "Too short a run."})
    folder = published(tmp_path, {}, runs=1)
    by_claim = {row["claim"]: row for row in read_ledger(folder)}
    told = by_claim["mrp/headline"]
    assert (told["verdict"], told["alone"], told["withdrawn"]) == (
        UNDECIDED, HOLDS, "Too short a run.",
    )  # fmt: skip
    assert by_claim["mrp/transfer"]["verdict"] == HOLDS


@pytest.mark.parametrize(("settings", "verdict", "here", "in_small"), [
    # the published settings: all published seeds decide
    ({"run": "desk"}, UNDECIDED, HOLDS, False),
    # another seed of its own is none against itself
    ({"run": "desk-seed-1", "seed": 1}, HOLDS, HOLDS, False),
    # a plain small run: the published verdict first
    ({"scale": "tour", "run": "tour"}, UNDECIDED, HOLDS, True),
    # a run of one's own: its own verdict first, the published one beside it
    ({"scale": "tour", "run": "mine"}, HOLDS, HOLDS, False),
    ({"run": "mine", "mrp": {"headline": {"replicates": 3}}}, HOLDS, HOLDS, False),
])  # fmt: skip
def test_a_run_shows_the_published_verdict_beside_its_own(
    tmp_path, settings, verdict, here, in_small
):
    folder = signed(published(tmp_path, {}), FAILS)
    config = CONFIG | {"seed": 0, "run": "desk"} | settings
    (told,) = beside_published([row("mrp/headline")], config, folder)
    assert (told["verdict"], told["here"], told["in_small"]) == (verdict, here, in_small)
    shown = told["published"]
    assert (shown is None) == ("desk" in config["run"])
    if shown:
        assert shown["verdict"] == UNDECIDED
    (alone,) = beside_published([row("mrp/headline")], config, None)
    assert (alone["verdict"], alone["published"]) == (HOLDS, None)


def test_a_report_does_not_wait_for_its_own_publication(tmp_path, monkeypatch):
    """What is published of the run itself may be older than the run."""
    folder = signed(published(tmp_path, {}), FAILS)
    frame = pd.read_parquet(folder / "claims.parquet")
    write_parquet(frame[frame["claim"] != "mrp/headline"], folder / "claims.parquet")
    monkeypatch.setattr(ledger, "read_withdrawn", lambda _: {"mrp/new": "Too short a run."})
    rows = [row("mrp/headline"), row("mrp/headline") | {"claim": "mrp/new"}]
    told = beside_published(rows, CONFIG | {"seed": 0, "run": "desk"}, folder)
    assert [one["verdict"] for one in told] == [UNDECIDED, UNDECIDED]
    assert [bool(one["withdrawn"]) for one in told] == [False, True]
