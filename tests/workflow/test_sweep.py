"""Sweeps and neighbours on the toy paper: what points share, what one is, where a verdict turns."""

import os

import pandas as pd
import pytest

from .checkout import Started, digest, environment
from .toy import MEASURED, Toy
from .trained import LEDGER, trained

pytestmark = pytest.mark.long
NOISE = "toy.averaging.noise"
SWEPT = "results/smoke/sweeps"
#: A training that a large rate makes diverge, and a claim that follows from it.
DIVERGES = ("from featlearn.core.errors import FeatlearnError", "raise FeatlearnError(")
CLAIM = '''

class Trained(Claims):
    paper, kind, possible = "toy", THEOREM, POSITIVE

    @claim("Lemma 2", "length of the weights", low=4, high=7, statistic="exact")
    def long(self):
        """Weights reach the length of their target."""
        return self.purity["value"]
'''


@pytest.fixture
def toy(tmp_path):
    toy = trained(Toy.of_template(tmp_path / "toy"))
    package = "src/featlearn/toy"
    for old in DIVERGES:
        toy.replace(f"{package}/training.py", old, old.replace("FeatlearnError", "DivergedError"))
    toy.edit(f"{package}/analysis.py", CLAIM)
    toy.replace("workflow/rules/toy.smk", 'experiment("toy", "averaging")\n', "")
    toy.edit(
        "workflow/rules/toy.smk",
        '\n\nexperiment(\n    "toy",\n    "averaging",\n    rules.toy_averaging,\n'
        "    purity=rules.toy_purity.output.values,\n)\n",
    )
    toy.replace(
        "workflow/rules/toy.smk",
        '{"what": "purity"}',
        '{"what": "purity", "dimension": config["toy"]["averaging"]["dimension"]}',
    )
    return toy


def sweep(toy, *words):
    command = ["-m", "featlearn.command", "sweep", *words, "--scale", "smoke"]
    there = {"PYTHONPATH": str(toy / "src"), "PATH": os.defpath}
    return Started(command, toy.root, environment(**there)).wait().well()


def test_points_share_what_their_key_does_not_reach_and_are_runs_of_their_config(toy):
    told = sweep(toy, NOISE, "0.1", "0.2", "0.4")
    counts = told.finished
    own = {rule: n for rule, n in counts.items() if rule.startswith("at_noise_")}
    # at 0.2 a point is the run; the trainings do not read the noise
    assert (
        sorted(rule.rpartition("toy_")[2] for rule in own)
        == ["averaging"] * 2 + ["judge_averaging"] * 2
    )
    assert {rule: counts[rule] for rule in counts.keys() - own.keys()} == dict.fromkeys(
        ["toy_averaging", "toy_pretrain", "toy_purity", "toy_judge_averaging", "sweep"], 1
    )
    table = (toy / SWEPT / NOISE / "table.md").read_text(encoding="utf-8")
    assert "Of the 12 jobs behind these 3 points 8 are shared" in table
    # the plain run of that config gives the same numbers and the same verdicts
    changes = {"run": "plain", "toy": {"averaging": {"noise": 0.4}}}
    toy.snakemake(f"results/plain/{LEDGER}", changes=changes).well()
    point = toy / f"results/smoke/points/{NOISE}=0.4"
    assert digest(point / MEASURED) == digest(toy / "results/plain" / MEASURED)
    one, other = (pd.read_parquet(at / LEDGER) for at in (point, toy / "results/plain"))
    same = ["claim", "measured", "interval_low", "verdict", "premises_met"]
    pd.testing.assert_frame_equal(one[same], other[same])
    # a value more runs its jobs alone
    more = sweep(toy, NOISE, "0.1", "0.2", "0.4", "0.8").finished
    own = {rule.rpartition("toy_")[2] for rule in more}
    assert own == {"averaging", "judge_averaging", "sweep"}
    assert sweep(toy, NOISE, "0.1", "0.2", "0.4", "0.8").nothing_to_do


def test_a_training_that_diverges_at_a_point_is_a_row_of_the_table(toy):
    sweep(toy, "toy.rate", "0.1", "0.2", "50")
    rows = pd.read_parquet(toy / SWEPT / "toy.rate/table.parquet")
    rows = rows.set_index(["toy.rate", "claim"])
    assert rows.loc[(0.1, "toy/long"), "verdict"] == "holds"
    assert rows.loc[(50, "toy/long"), "verdict"] == "not measured"
    assert "lower the learning rate" in rows.loc[(50, "toy/long"), "premises"]
    # a claim on other frames is judged all the same
    assert rows.loc[(50, "toy/closed-form"), "verdict"] == "holds"


def test_two_keys_make_a_map_and_points_share_among_themselves(toy):
    told = sweep(toy, "toy.rate", "0.1", "0.3", "--and", NOISE, "0.1", "0.2", "0.3")
    done = [rule.rpartition("toy_")[2] for rule in told.finished]
    assert done.count("pretrain") == 2  # one a rate, whatever the noise
    assert done.count("averaging") == 3
    assert done.count("judge_averaging") == 6
    assert (toy / SWEPT / f"toy.rate+{NOISE}/toy/long.svg").is_file()


def test_the_value_at_which_a_verdict_turns_is_found_and_no_point_runs_twice(toy):
    words = ["toy.rate", "0.001", "0.3", "--until-turns", "toy/long", "--accuracy", "0.03"]
    told = sweep(toy, *words)
    assert "toy/long turns between" in told.text
    rows = pd.read_parquet(toy / SWEPT / "toy.rate/table.parquet").set_index("toy.rate")
    verdicts = list(rows["verdict"])
    turn = verdicts.index("holds")
    assert set(verdicts[:turn]) == {"fails"}
    assert set(verdicts[turn:]) == {"holds"}
    at = list(rows.index)
    assert at[turn] - at[turn - 1] <= 0.03
    pretrained = [rule for rule in told.finished if rule.endswith("pretrain")]
    assert all(told.finished[rule] == 1 for rule in pretrained)
    assert len(pretrained) == len(at)


def declared(change):
    one = {"name": "twice that", "change": change}
    return {"scale": "smoke", "neighbours": {"toy/averaging": [one]}}


@pytest.fixture(scope="module")
def plain(template, tmp_path_factory):
    return template.copy(tmp_path_factory.mktemp("plain"))


def test_neighbours_are_points_beside_the_run(plain):
    changes, ledger = declared({NOISE: "x2"}), f"results/smoke/{LEDGER}"
    assert "at_noise" not in plain.snakemake("-n", ledger, changes=changes).well().text
    done = plain.snakemake("neighbours", changes=changes).well()
    assert {rule.rpartition("toy_")[2] for rule in done.finished if rule.startswith("at_")} == {
        "averaging", "judge_averaging",
    }  # fmt: skip
    before = digest(plain / ledger)
    found = pd.read_parquet(plain / "results/smoke/neighbours/toy/averaging.parquet")
    assert set(found["neighbour"]) == {"twice that"}
    assert set(found["claim"]) == set(pd.read_parquet(plain / ledger)["claim"])
    assert plain.snakemake("neighbours", changes=changes).well().nothing_to_do
    # the ledger of a run is that of its config, with neighbours and without
    assert plain.snakemake(ledger, changes=changes).well().nothing_to_do
    assert plain.snakemake(ledger, changes={"scale": "smoke"}).well().nothing_to_do
    assert digest(plain / ledger) == before


@pytest.mark.parametrize(("changes", "words"), [
    (declared({"checkpoint_seconds": "x2"}), "no rule of the experiment reads checkpoint"),
    ({"scale": "smoke"}, "neighbours: this config declares none"),
])  # fmt: skip
def test_a_neighbour_that_cannot_be_starts_no_job(plain, changes, words):
    told = plain.snakemake("-n", "neighbours", changes=changes)
    assert told.code == 1
    assert words in told.text
    assert "Traceback" not in told.text
