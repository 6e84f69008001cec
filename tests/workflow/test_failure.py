"""Jobs that fail: no output, a log that says why, a message that names the rule; others go on."""

from __future__ import annotations

import pytest

from .checkout import at_once

pytestmark = pytest.mark.workflow

RESULTS = "results/diverged"
DOWNSTREAM = f"{RESULTS}/mrp/weights/headline/downstream.safetensors"
QUOTED = f"{RESULTS}/mrp/tables/appendix-b.parquet"
SCHEMATIC = f"{RESULTS}/mrp/figures/fig-2.svg"
#: A learning rate at which the very first steps leave all bounds.
DIVERGES = {
    "run": "diverged",
    "mrp": {"headline": {"pretraining": {"learning_rate": 1.0e6}}},
}


def fail(checkout):
    """The training fails first, then a script with a bug; the drawing has nothing to do with it."""
    script = checkout / "scripts/mrp/table_quoted.py"
    text = script.read_text(encoding="utf-8")
    opening = "with Job(snakemake) as job:\n"
    broken = text.replace(opening, f"{opening}    1 / 0\n")
    assert broken != text
    script.write_text(broken, encoding="utf-8")
    priority = ("--prioritize", f"{RESULTS}/mrp/weights/headline/pretrained.safetensors", QUOTED)
    told = checkout.snakemake(
        *priority, "--keep-going", DOWNSTREAM, QUOTED, SCHEMATIC, changes=DIVERGES, cores=1
    )
    return checkout, told


@pytest.fixture(scope="module")
def failed(fresh):
    return at_once(failed=lambda: fail(fresh()))["failed"].result()


def log(checkout, name):
    return (checkout / f"{RESULTS}/logs/mrp/{name}.log").read_text(encoding="utf-8")


def test_the_run_fails_and_names_rule_and_reason(failed):
    _, told = failed
    assert told.code != 0
    assert "error in rule mrp_pretrain: " in told.text
    assert "lower the learning rate" in told.text


def test_the_log_names_the_reason_in_words_alone(failed):
    checkout, _ = failed
    text = log(checkout, "pretrain")
    assert "error in rule mrp_pretrain: step " in text
    assert "lower the learning rate" in text
    assert "Traceback" not in text


def test_a_failed_job_leaves_no_output_and_what_needs_it_is_not_run(failed):
    checkout, told = failed
    assert set(checkout.made("diverged")) == {"mrp/figures/fig-2.svg", "mrp/figures/fig-2.png"}
    assert set(checkout.files(f"{RESULTS}/provenance")) == {
        "mrp/figures/fig-2.svg.json",
        "mrp/figures/fig-2.png.json",
    }
    assert checkout.staged("diverged") == []
    assert not (checkout / f"{RESULTS}/logs/mrp/downstream.log").exists()
    assert "mrp_downstream" in told.planned


def test_others_are_finished_with_keep_going(failed):
    _, told = failed
    assert told.finished == {"mrp_figure_schematic": 1}


def test_the_traceback_of_an_unforeseen_error_is_in_the_log(failed):
    checkout, _ = failed
    text = log(checkout, "appendix-b")
    assert "Traceback" in text
    assert "ZeroDivisionError" in text


def test_an_unforeseen_error_is_told_with_its_rule_and_log(failed):
    _, told = failed
    after = told.text.partition("Select jobs")[2]
    assert "ZeroDivisionError" in after
    assert "mrp_table_quoted" in after
    assert f"{RESULTS}/logs/mrp/appendix-b.log" in after
