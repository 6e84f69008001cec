"""Killed at any moment: nothing half-written, nothing to clean up, the same bytes in the end.

The trainings of these copies wait in their middle (see ``checkout.Paused``), so that every signal
arrives there, and the plain run of the same config is the undisturbed one to compare with.
"""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass

import psutil
import pytest

from .checkout import Checkout, Ended, Paused, at_once, gone

pytestmark = pytest.mark.workflow

WEIGHTS = "results/smoke/mrp/weights/headline"
PRETRAINED = f"{WEIGHTS}/pretrained.safetensors"
DOWNSTREAM = f"{WEIGHTS}/downstream.safetensors"
CLAIMS = "results/smoke/claims.parquet"


@dataclass
class Disturbed:
    """A run that was disturbed in the middle of a training, and the same command again."""

    checkout: Checkout
    first: Ended
    #: artefacts under their final names after the disturbance, and digests
    left: dict[str, str]
    #: whether all scripts of the first run ended without help
    alone: bool
    locks: list[str]
    log: str
    again: Ended


def disturb(checkout, rules, target, how) -> Disturbed:
    """Start, wait for trainings of ``rules``, do ``how(run, checkout)``, look, start again."""
    paused = Paused(checkout.root)
    run = paused.start_training(rules, target)
    scripts = run.scripts()
    assert {script.pid for script in scripts} == set(paused.training().values())
    try:
        how(run, paused)
        first = run.wait()
    finally:
        alone = gone(scripts)
    left, locks = paused.made(), paused.locks()
    log = (paused / "results/smoke/logs/mrp/pretrain.log").read_text(encoding="utf-8")
    paused.go_on()
    again = paused.snakemake(target)
    return Disturbed(paused, first, left, alone, locks, log, again)


def kill_run(run, paused):
    run.process.send_signal(signal.SIGKILL)


def kill_script(run, paused):
    psutil.Process(paused.training()["mrp_pretrain"]).send_signal(signal.SIGKILL)


def terminate_run(run, paused):
    """Snakemake lets the jobs at work end, and starts no further one."""
    run.process.send_signal(signal.SIGTERM)
    paused.go_on()


def terminate_all(run, paused):
    """As at the end of a batch job: the run and its scripts."""
    os.killpg(run.pid, signal.SIGTERM)


def ctrl_c(run, paused):
    run.ctrl_c()


@pytest.fixture(scope="module")
def disturbed(fresh):
    both = ["mrp_pretrain", "mrp_supervise"]
    one = ["mrp_pretrain"]
    return at_once(
        kill_run=lambda: disturb(fresh(), both, CLAIMS, kill_run),
        kill_script=lambda: disturb(fresh(), one, PRETRAINED, kill_script),
        terminate_run=lambda: disturb(fresh(), one, DOWNSTREAM, terminate_run),
        terminate_all=lambda: disturb(fresh(), one, PRETRAINED, terminate_all),
        ctrl_c=lambda: disturb(fresh(), one, PRETRAINED, ctrl_c),
    )


KINDS = ["kill_run", "kill_script", "terminate_run", "terminate_all", "ctrl_c"]


@pytest.mark.parametrize("kind", KINDS)
def test_what_stands_under_a_final_name_is_whole(disturbed, finished, kind):
    outcome = disturbed[kind].result()
    assert outcome.first.code != 0, outcome.first.text
    whole = finished.made()
    assert {name: whole[name] for name in outcome.left} == outcome.left


@pytest.mark.parametrize("kind", ["kill_run", "kill_script", "terminate_all", "ctrl_c"])
def test_a_disturbed_training_leaves_no_artefact(disturbed, kind):
    assert not [name for name in disturbed[kind].result().left if "pretrained" in name]


@pytest.mark.parametrize("kind", KINDS)
def test_no_script_outlives_its_run(disturbed, kind):
    assert disturbed[kind].result().alone


@pytest.mark.parametrize("kind", KINDS)
def test_no_lock_has_to_be_removed(disturbed, kind):
    outcome = disturbed[kind].result()
    assert outcome.locks == []
    assert outcome.again.code == 0, outcome.again.text


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_command_completes_with_the_bytes_of_an_undisturbed_run(disturbed, finished, kind):
    outcome = disturbed[kind].result()
    assert outcome.again.code == 0, outcome.again.text
    whole, made = finished.made(), outcome.checkout.made()
    assert {name: whole[name] for name in made} == made
    assert "mrp/weights/headline/pretrained.safetensors" in made
    assert outcome.checkout.staged() == []


def test_a_killed_run_is_completed_up_to_its_claims(disturbed):
    outcome = disturbed["kill_run"].result()
    assert outcome.first.code == -signal.SIGKILL
    assert set(outcome.again.finished) >= {"mrp_pretrain", "mrp_supervise", "claims"}
    assert "claims.parquet" in outcome.checkout.made()


def test_a_killed_script_is_named_with_its_log(disturbed):
    text = disturbed["kill_script"].result().first.text
    assert "SIGKILL" in text
    assert "mrp_pretrain" in text.partition("Execute")[2]
    assert "results/smoke/logs/mrp/pretrain.log" in text


def test_a_run_that_shall_end_finishes_the_job_at_work(disturbed):
    outcome = disturbed["terminate_run"].result()
    assert outcome.first.finished == {"mrp_pretrain": 1}
    assert "mrp/weights/headline/pretrained.safetensors" in outcome.left
    assert outcome.again.finished == {"mrp_downstream": 1}


def test_the_log_of_a_terminated_job_says_so(disturbed):
    assert "SIGTERM" in disturbed["terminate_all"].result().log


def test_the_log_of_an_interrupted_job_says_so(disturbed):
    assert "KeyboardInterrupt" in disturbed["ctrl_c"].result().log
