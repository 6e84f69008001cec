"""The ways in: a paper, a figure, another run or folder, another workflow, a submit command."""

import shlex
import sys

import pytest

from .checkout import Checkout, digest
from .trained import ALIGNMENT, RESULTS, SHOWN, TABLE

HEADLINE = f"{RESULTS}/mrp/figures/headline.svg"


def test_a_target_makes_what_it_needs_and_one_of_nothing_says_so(fresh, template):
    checkout = fresh()
    planned = checkout.plan("mrp")
    assert planned["mrp"] == 1
    assert all(rule.startswith("mrp") or rule == "gathered" for rule in planned)
    assert {"mrp_pretrain", "mrp_judge_headline", "mrp_show_paper_items"} < set(planned)
    assert checkout.plan(HEADLINE, changes={"papers": ["mrp"]}) == {
        "mrp_pretrain": 1, "mrp_supervise": 1, "mrp_supervise_all": 1, "mrp_supervise_masked": 1,
        "mrp_downstream": 1, "mrp_evaluate": 1, "mrp_show_headline": 1,
    }  # fmt: skip
    told = checkout.snakemake("--dry-run", "real_images")
    # Snakemake adds where its rule asked
    assert told.code != 0
    assert "real_images: expected entries under this key" in told.text
    assert template.plan("results/tour/claims.parquet", configfile=None)["claims"] == 1


def test_another_working_directory_and_name_get_all_that_is_written(
    template, template_finished, tmp_path
):
    checkout, elsewhere = template.copy(tmp_path / "clone"), tmp_path / "größer, with blanks"
    elsewhere.mkdir()
    before = checkout.files()
    words = ("--directory", str(elsewhere), "--workflow-profile", "profiles/default")
    told = checkout.snakemake(*words, f"results/trial/{TABLE}", "--config", "run=trial")
    assert told.well().finished == {"toy_averaging": 1, "toy_show_averaging": 1}
    assert checkout.files() == before
    made = Checkout(elsewhere).files()
    assert all(name.startswith(("results/trial/", ".snakemake/")) for name in made)
    whole = template_finished.checksums()
    assert {name: made[f"results/trial/{name}"] for name in SHOWN} == {
        name: whole[name] for name in SHOWN
    }
    assert f"results/trial/provenance/{TABLE}.json" in made


OUTER = """
module featlearn:
    snakefile: "{clone}/workflow/Snakefile"
    config: {{"scale": "smoke", "run": "theirs"}}

use rule * from featlearn as featlearn_*

rule mine:
    default_target: True
    input:
        "results/theirs/looped/claims/construction.parquet",
        figure="results/theirs/looped/figures/ablations.svg",
    output:
        "mine.svg"
    shell:
        "cp {{input.figure}} {{output}}"
"""


@pytest.mark.long
def test_another_workflow_builds_on_results_of_this_one(sources, finished, tmp_path):
    outer = Checkout(tmp_path)
    (outer / "Snakefile").write_text(OUTER.format(clone=sources.root), encoding="utf-8")
    before = sources.files()
    told = outer.snakemake(configfile=None).well()
    assert told.finished["mine"] == 1
    assert told.finished["featlearn_looped_construction"] == 1
    drawn = finished / "results/smoke/looped/figures/ablations.svg"
    assert digest(outer / "mine.svg") == digest(drawn)
    wanted, made = finished.made(), outer.made("theirs")
    assert {name: wanted[name] for name in made} == made
    assert sources.files() == before  # the clone is read only
    assert outer.snakemake(configfile=None).nothing_to_do


#: Notes what it is told, runs the script (the last word) and prints the number of a job.
QSUB = """#!/bin/sh
echo "$@" >> told.txt
for script; do :; done
sh "$script" > qsub.log 2>&1 &
echo 1.server
"""


@pytest.mark.long
def test_a_job_goes_through_the_submit_command_of_the_profile(fresh_toy, tmp_path):
    checkout = fresh_toy()
    qsub, target = tmp_path / "qsub", f"{RESULTS}/{ALIGNMENT}"
    qsub.write_text(QSUB, encoding="utf-8")
    qsub.chmod(0o755)
    path = f"{tmp_path}:{shlex.quote(sys.prefix)}/bin:/usr/bin:/bin"
    words = ("--profile", "profiles/generic", "--latency-wait", "10",
             "--seconds-between-status-checks", "1")  # fmt: skip
    told = checkout.snakemake(target, *words, env={"PATH": path}, cores=100)
    assert told.well().finished == {"toy_averaging": 1}
    asked = (checkout / "told.txt").read_text(encoding="utf-8")
    assert "-A myproject -q batch -l select=1:ncpus=1:mem=2000mb:ngpus=0 -l walltime=30:00" in asked
    assert (checkout / target).is_file()
