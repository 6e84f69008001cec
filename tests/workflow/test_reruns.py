"""What an edit or a changed value re-runs on the real DAG: exactly what depends on it.

The expected rules are written by hand, as an oracle that does not read the code it judges. They are
those of the headline and of the run; what other experiments re-run beside them is not judged here.
"""

from __future__ import annotations

import os

import pytest

from .checkout import at_once

pytestmark = pytest.mark.workflow

#: What follows from every change of an artefact, and from one of a figure or table as well.
LISTED = {"checksums", "report", "all"}
SHOWN = {"catalogue", *LISTED}
CLAIMED = {"mrp_claims_headline", "claims"}
FIGURES_OF_THE_RUN = {
    "mrp_figure_headline",
    "mrp_figure_captured_features",
    "mrp_figure_feature_growth",
}
MEASURED = {"mrp_evaluate", "mrp_table_headline", *FIGURES_OF_THE_RUN, *CLAIMED, *SHOWN}
TRAININGS = {"mrp_pretrain", "mrp_supervise", "mrp_downstream"}
EVERYTHING = {*TRAININGS, *MEASURED, "mrp_figure_schematic", "mrp_table_quoted"}

#: The rules that are judged.
JUDGED = EVERYTHING

#: Edited file, and the rules that its edit re-runs.
EDITS = {
    "src/featlearn/mrp/figures/headline.py": {*FIGURES_OF_THE_RUN, *SHOWN},
    "src/featlearn/mrp/schematics.py": {"mrp_figure_schematic", *SHOWN},
    "src/featlearn/mrp/train.py": {*TRAININGS, *MEASURED},
    "src/featlearn/mrp/claims/headline.py": {*CLAIMED, *LISTED},
    # the report reads its verdicts, and tables of other experiments judge by it
    "src/featlearn/core/claims.py": {*CLAIMED, *SHOWN},
    "src/featlearn/core/plots.py": {"mrp_figure_schematic", *FIGURES_OF_THE_RUN, *SHOWN},
    "src/featlearn/core/stats.py": {
        "mrp_table_headline",
        *FIGURES_OF_THE_RUN,
        *CLAIMED,
        *SHOWN,
    },
    "src/featlearn/core/report.py": {"report", "all"},
    "src/featlearn/core/job.py": EVERYTHING,
    "scripts/mrp/table_headline.py": {"mrp_table_headline", *SHOWN},
    # read when the DAG is built, by no job: its edit makes no artefact another one
    "src/featlearn/mrp/config.py": set(),
}
#: Changed value, and the rules that it re-runs.
VALUES = {
    # a training depends on its own part of the experiment, a drawing on nothing
    "a step count": (
        {"mrp": {"headline": {"finetuning": {"steps": 21}}}},
        {"mrp_downstream"} | MEASURED - {"mrp_figure_feature_growth"},
    ),
    "the seed": ({"seed": 1}, TRAININGS | MEASURED),
}


def after_edit(checkout, file):
    checkout.edit(file)
    return checkout.plan()


def after_touch(checkout):
    """New time stamps for all code: nobody changed a byte."""
    for folder in ("scripts", "src", "workflow/rules"):
        for file in (checkout / folder).rglob("*.*"):
            if file.suffix in (".py", ".smk"):
                os.utime(file)
    os.utime(checkout / "workflow/Snakefile")
    return checkout.snakemake("--dry-run")


@pytest.fixture(scope="module")
def plans(done):
    def edited(file):
        return lambda: after_edit(done(), file)

    def valued(changes):
        return lambda: done().plan(changes=changes)

    return at_once(
        touched=lambda: after_touch(done()),
        **{file: edited(file) for file in EDITS},
        **{name: valued(changes) for name, (changes, _) in VALUES.items()},
    )


@pytest.mark.parametrize("file", EDITS)
def test_an_edit_reruns_what_uses_the_module_and_nothing_else(plans, file):
    assert set(plans[file].result()) & JUDGED == EDITS[file]


@pytest.mark.parametrize("value", VALUES)
def test_a_changed_value_reruns_what_depends_on_it(plans, value):
    rerun = set(plans[value].result()) & JUDGED
    assert rerun == VALUES[value][1]
    assert not rerun & {"mrp_figure_schematic", "mrp_table_quoted"}


def test_all_jobs_of_a_rule_with_several_are_run_again(plans):
    assert plans["src/featlearn/mrp/schematics.py"].result()["mrp_figure_schematic"] == 2
    assert plans["src/featlearn/core/job.py"].result()["mrp_table_quoted"] == 1


def test_a_new_time_stamp_alone_reruns_nothing(plans):
    told = plans["touched"].result()
    assert told.nothing_to_do, told.text
