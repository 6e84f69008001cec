"""Which claims of a published run have a second seed: those that both runs made alike."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pandas as pd
import pytest
import yaml

from featlearn.core.claims import FAILS, HOLDS, UNDECIDED
from featlearn.core.config import load
from featlearn.core.digest import answer
from featlearn.core.files import write_parquet
from featlearn.core.front import READS, SUMMARY, read_ledger, second_seed
from featlearn.core.pages import LISTS
from featlearn.core.two_runs import made_alike, of_two_seeds

ROOT = Path(__file__).parents[2]
RUNS = {"desk": "a" * 40, "desk-second-seed": "b" * 40}
CONFIG = {
    "scale": "desk",
    "threads": 1,
    "mrp": {
        "headline": {"replicates": 10},
        "clean": {"replicates": 10, "data": {"patches": 4}},
        "transfer": {"replicates": 5},
    },
    "gemfilter": {"depths": 3, "wired": {"layers": 2}, "trained": {}, "costs": {"models": 1}},
    "images": {"world": {"size": 16}},
}
ARTEFACTS = {
    "mrp/headline": "mrp/measurements/headline/evaluation.parquet",
    "mrp/transfer": "mrp/measurements/transfer/accuracy.parquet",
    "mrp/pictures": "mrp/measurements/images/gain.parquet",
    "gemfilter/costs": "gemfilter/measurements/costs/costs.parquet",
}


def row(claim: str, **other) -> dict:
    return {
        "claim": claim, "paper": claim.partition("/")[0], "artefact": ARTEFACTS[claim],
        "kind": "theorem", "source": claim, "reason": "", "low": 0.0, "high": 1.0,
        "quantity": "a share",
        "measured": 0.5, "interval_low": 0.4, "interval_high": 0.6, "spread": 0.1,
        "spread_kind": "half-width", "replicates": 10, "verdict": HOLDS, **other,
    }  # fmt: skip


def published(folder: Path, changed: dict, *added: dict) -> Path:
    """Two runs; the first has ``changed`` parts of the config and further claims."""
    for seed, (run, commit) in enumerate(RUNS.items()):
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
    return {row["claim"] for row in read_ledger(folder) if row["second"] is None}


@pytest.mark.parametrize(
    ("changed", "unlike"),
    [
        ({}, set()),
        # an experiment that the second run did not have
        ({"mrp.noise": {"replicates": 3}}, set()),
        ({"mrp.headline": {"replicates": 20}}, {"mrp/headline"}),
        # what several experiments read, of one paper or outside of it
        ({"mrp.clean.data": {"patches": 8}}, {"mrp/transfer"}),
        ({"images.world": {"size": 8}}, {"mrp/pictures"}),
        # no section of its own: all claims of its paper may follow from it
        ({"gemfilter.depths": 4}, {"gemfilter/costs"}),
    ],
)
def test_a_claim_has_a_second_seed_where_what_it_reads_is_the_same(tmp_path, changed, unlike):
    assert alone(published(tmp_path, changed)) == unlike


def test_runs_of_other_settings_are_no_pair(tmp_path):
    folder = published(tmp_path, {"threads": 2})
    assert second_seed(folder) is None
    assert all("second" not in row for row in read_ledger(folder))


@pytest.mark.parametrize("other", [{"quantity": "another"}, {"spread_kind": "of a median"}])
def test_another_quantity_under_the_same_name_is_no_second_seed(other):
    (told,) = of_two_seeds([row("mrp/headline")], [row("mrp/headline", verdict=FAILS, **other)])
    assert told["second"] is None
    assert told["verdict"] == HOLDS


def test_a_new_claim_and_one_with_another_band_are_judged_by_one_seed(tmp_path):
    new = row("mrp/headline") | {"claim": "mrp/new"}
    assert alone(published(tmp_path, {}, new)) == {"mrp/new"}
    rows = [row("mrp/headline"), row("mrp/transfer", high=math.inf)]
    other = [row("mrp/headline", verdict=FAILS), row("mrp/transfer", verdict=FAILS, high=0.2)]
    told = of_two_seeds(rows, other)
    assert [one["verdict"] for one in told] == [UNDECIDED, HOLDS]
    assert [one["second"] is None for one in told] == [False, True]


def test_pages_tell_how_many_claims_have_a_second_seed_and_at_which_commits(tmp_path):
    ledger = read_ledger(published(tmp_path, {"mrp.headline": {"replicates": 20}}))
    told = answer(ledger, {}, 0, 1)[-1]
    assert told.startswith("One claim is judged by one seed, because ")
    assert (
        f"three claims were run with two base seeds, 0 and 1 (at the commits `{'a' * 12}` and "
        f"`{'b' * 12}`): what they judge differently, no claims," in told
    )
    listed = LISTS["seeds"](ledger)
    assert listed.startswith("Of 3 claims judged with both seeds (1 more are judged by one alone)")
    assert f"at the commits `{'a' * 12}` and `{'b' * 12}`, 3 have one verdict" in listed


def test_the_sections_that_are_said_to_be_read_are_those_of_the_config():
    config = load({"scale": "desk"}, ROOT)
    reads = yaml.safe_load((ROOT / READS).read_text(encoding="utf-8"))
    for folders in reads.values():
        for place in (place for places in folders.values() for place in places):
            part = config
            for key in place.split("."):
                part = part[key]
            assert isinstance(part, dict), place


def test_a_folder_without_a_section_follows_from_all_of_its_paper():
    other = CONFIG | {"mrp": CONFIG["mrp"] | {"headline": {}}}
    strange = {"artefact": "mrp/measurements/strange.parquet"}
    assert made_alike(strange, CONFIG, CONFIG, {})
    assert not made_alike(strange, CONFIG, other, {})
