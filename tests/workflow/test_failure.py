"""Jobs that fail: no output, a log that says why, a message that names the rule; others go on."""

from __future__ import annotations

import pytest

from .toy import MEASURED, PACKAGE
from .trained import DOWNSTREAM, FIGURE, PRETRAINED, SHOWN, SUPERVISED

pytestmark = pytest.mark.workflow

RUN = "diverged"
RESULTS = f"results/{RUN}"
#: A learning rate at which the very first steps leave all bounds.
DIVERGES = {"run": RUN, "toy": {"rate": 1.0e6}}


def fail(checkout):
    """The training fails first, then a job with a bug; the drawing has nothing to do with it."""
    checkout.replace(
        f"{PACKAGE}/experiments.py", "def supervise(job):\n", "def supervise(job):\n    1 / 0\n"
    )
    wanted = [f"{RESULTS}/{name}" for name in (PRETRAINED, SUPERVISED, DOWNSTREAM, FIGURE)]
    priority = ("--prioritize", *wanted[:2])
    told = checkout.snakemake(*priority, "--keep-going", *wanted, changes=DIVERGES, cores=1)
    return checkout, told


@pytest.fixture(scope="module")
def failed(fresh_toy):
    return fail(fresh_toy())


def log(checkout, name):
    return (checkout / f"{RESULTS}/logs/toy/{name}.log").read_text(encoding="utf-8")


def test_the_run_fails_and_names_rule_and_reason(failed):
    _, told = failed
    assert told.code != 0
    assert "error in rule toy_pretrain: " in told.text
    assert "lower the learning rate" in told.text


def test_the_log_names_the_reason_in_words_alone(failed):
    checkout, _ = failed
    text = log(checkout, "pretrain")
    assert "error in rule toy_pretrain: step " in text
    assert "lower the learning rate" in text
    assert "Traceback" not in text


def test_a_failed_job_leaves_no_output_and_what_needs_it_is_not_run(failed):
    checkout, told = failed
    assert set(checkout.made(RUN)) == {MEASURED, *SHOWN}
    assert set(checkout.files(f"{RESULTS}/provenance")) == {
        f"{name}.json" for name in (MEASURED, *SHOWN)
    }
    assert checkout.staged(RUN) == []
    assert not (checkout / f"{RESULTS}/logs/toy/downstream.log").exists()
    assert "toy_downstream" in told.planned


def test_others_are_finished_with_keep_going(failed):
    _, told = failed
    assert told.finished == {"toy_averaging": 1, "toy_show_averaging": 1}


def test_the_traceback_of_an_unforeseen_error_is_in_the_log(failed):
    checkout, _ = failed
    text = log(checkout, "supervise")
    assert "Traceback" in text
    assert "ZeroDivisionError" in text


def test_an_unforeseen_error_is_told_with_its_rule_and_log(failed):
    _, told = failed
    after = told.text.partition("Select jobs")[2]
    assert "ZeroDivisionError" in after
    assert "toy_supervise" in after
    assert f"{RESULTS}/logs/toy/supervise.log" in after
