"""A run that fails, is told to end, or loses a job: what is left, what is told, what is retried."""

import signal

import psutil
import pytest

from .checkout import Paused
from .toy import ANALYSIS, PACKAGE
from .trained import (
    ALIGNMENT,
    DOWNSTREAM,
    FIGURE,
    GROWTH,
    LEDGER,
    PRETRAINED,
    RESULTS,
    SHOWN,
    SUPERVISED,
    TABLE,
)

WEIGHTS = [PRETRAINED, SUPERVISED]
#: A training is told to end at its fifth step, the first time that it gets there.
TOLD_TO_END = """

def _told(self, step, see, _report=Progress.report):
    import os
    import signal
    from pathlib import Path

    mark = Path(f"told-{self.label.partition(' ')[0]}")
    if step == 5 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGTERM)
    _report(self, step, see)


Progress.report = _told
"""


#: A learning rate at which the very first steps leave all bounds.
DIVERGES = {"toy": {"rate": 1.0e6}}


def test_a_failed_run_leaves_no_half_output_and_its_report_says_what_is_missing_and_why(fresh_toy):
    """A training diverges, a job has a bug, and one is killed from outside."""
    checkout = fresh_toy()
    checkout.replace(ANALYSIS, "    means = ", "    1 / 0\n    means = ")
    kill = "    __import__('os').kill(__import__('os').getpid(), 9)\n"
    jobs = f"{PACKAGE}/experiments.py"
    checkout.replace(jobs, "def supervise(job):\n", f"def supervise(job):\n{kill}")
    told = checkout.snakemake("--keep-going", changes=DIVERGES)
    assert told.code != 0
    assert set(told.finished) == {"toy_averaging", "toy_judge_averaging", "claims"}
    assert "files are missing; results/smoke/unfinished.html" in told.text
    assert "error in rule toy_pretrain: step " in told.text
    assert "ZeroDivisionError" in told.text
    after = told.text.partition("Error in rule toy_show_averaging")[2]
    assert f"{RESULTS}/logs/toy/show_averaging.log" in after

    page = (checkout / f"{RESULTS}/unfinished.html").read_text(encoding="utf-8")
    for name in (TABLE, FIGURE, SUPERVISED, PRETRAINED, DOWNSTREAM):
        assert f"<li><code>{name}</code></li>" in page
    assert "ZeroDivisionError" in page
    assert "lower the learning rate" in page
    assert "<code>toy_supervise</code></dt><dd>ended without a word" in page
    assert 'id="claim-toy-' in page  # and what there is

    made = checkout.made()
    assert not {*SHOWN, SUPERVISED, PRETRAINED, DOWNSTREAM} & set(made)
    assert {ALIGNMENT, LEDGER} <= set(made)
    assert all("supervise" in name for name in checkout.staged())  # of the killed job
    logs = checkout / f"{RESULTS}/logs/toy"
    assert not (logs / "downstream.log").exists()
    diverged = (logs / "pretrain.log").read_text(encoding="utf-8")
    assert "lower the learning rate" in diverged
    assert "Traceback" not in diverged
    assert "Traceback" in (logs / "show_averaging.log").read_text(encoding="utf-8")


@pytest.mark.long
def test_a_training_that_is_told_to_end_is_taken_up_by_the_retry(fresh_toy, toy_finished):
    checkout = fresh_toy()
    checkout.edit("src/featlearn/core/run/progress.py", TOLD_TO_END)
    wanted = [f"{RESULTS}/{name}" for name in WEIGHTS]
    told = checkout.snakemake("--retries", "1", *wanted).well()
    assert told.text.count(" goes on after step 5") == len(WEIGHTS)
    assert told.text.count("ended by SIGTERM; started again, it goes on") >= len(WEIGHTS)
    whole, made = toy_finished.made(), checkout.made()
    assert set(WEIGHTS) <= set(made)
    assert {name: whole[name] for name in made} == made


@pytest.mark.long
def test_a_checkpoint_of_a_killed_run_is_taken_up_by_the_next(fresh_toy, toy_finished):
    """The run and its job get SIGKILL in the middle of a training; the next run goes on there."""
    paused = Paused(fresh_toy().root)
    target = f"{RESULTS}/{PRETRAINED}"
    often = {"changes": {"checkpoint_seconds": 0}}
    run = paused.start_until(["toy_pretrain"], target, **often)
    training = psutil.Process(paused.waiting()["toy_pretrain"])
    run.process.send_signal(signal.SIGKILL)
    training.send_signal(signal.SIGKILL)
    run.wait()
    paused.go_on()
    told = paused.snakemake(target, **often).well()
    assert " goes on after step 19" in told.text
    assert {GROWTH, PRETRAINED} <= set(made := paused.made())
    assert made[PRETRAINED] == toy_finished.made()[PRETRAINED]
