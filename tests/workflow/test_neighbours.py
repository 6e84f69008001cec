"""Neighbours on the toy paper: planned where they are asked for, and no other file changes."""

import pandas as pd
import pytest

from .checkout import digest
from .toy import Toy

NOISE = "toy.averaging.noise"
LEDGER = "results/smoke/toy/claims/averaging.parquet"


def declared(change):
    one = {"name": "twice that", "change": change}
    return {"scale": "smoke", "neighbours": {"toy/averaging": [one]}}


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    return Toy.of_template(tmp_path_factory.mktemp("toy"))


def test_neighbours_are_points_beside_the_run(toy):
    changes = declared({NOISE: "x2"})
    assert "at_noise" not in toy.snakemake("-n", LEDGER, changes=changes).well().text
    done = toy.snakemake("neighbours", changes=changes).well()
    assert {rule.rpartition("toy_")[2] for rule in done.finished if rule.startswith("at_")} == {
        "averaging", "judge_averaging",
    }  # fmt: skip
    before = digest(toy / LEDGER)
    found = pd.read_parquet(toy / "results/smoke/neighbours/toy/averaging.parquet")
    assert set(found["neighbour"]) == {"twice that"}
    assert set(found["claim"]) == set(pd.read_parquet(toy / LEDGER)["claim"])
    assert toy.snakemake("neighbours", changes=changes).well().nothing_to_do
    # the ledger of a run is that of its config, with neighbours and without
    assert toy.snakemake(LEDGER, changes=changes).well().nothing_to_do
    assert toy.snakemake(LEDGER, changes={"scale": "smoke"}).well().nothing_to_do
    assert digest(toy / LEDGER) == before


@pytest.mark.parametrize(("changes", "words"), [
    (declared({"checkpoint_seconds": "x2"}), "no rule of the experiment reads checkpoint"),
    (declared({"toy.averaging.nois": "x2"}), "nois: unknown key"),
    (declared({NOISE: -1.0}), "noise must be"),
    ({"scale": "smoke"}, "neighbours: this config declares none"),
])  # fmt: skip
def test_a_neighbour_that_cannot_be_starts_no_job(toy, changes, words):
    told = toy.snakemake("-n", "neighbours", changes=changes)
    assert told.code == 1
    assert words in told.text
    assert "Traceback" not in told.text
