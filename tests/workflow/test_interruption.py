"""Killed at any moment: nothing half-written, nothing to clean up, the same bytes in the end.

The jobs of these copies wait in their middle (see ``checkout.Paused``), so that every signal
arrives there, and the plain run of the same config is the undisturbed one to compare with. Jobs are
forks of the run's warm process, or, where there is none, processes of their own: both are killed.
"""

import signal
import time
from dataclasses import dataclass

import psutil
import pytest

from .checkout import IN_COMMIT, IN_TRAINING, Checkout, Ended, Paused, gone
from .trained import DOWNSTREAM, GROWTH, LEDGER, PRETRAINED, PURITY, RESULTS, SUPERVISED

pytestmark = pytest.mark.long
BOTH = ["toy_pretrain", "toy_supervise"]
ONE = ["toy_pretrain"]
#: Enough jobs for a warm process.
MANY = [DOWNSTREAM, PURITY, SUPERVISED, LEDGER]
COLD = {"FEATLEARN_WARM": "no"}


@dataclass
class Disturbed:
    """A run that was disturbed while jobs of it waited, and the same command again."""

    kind: str
    checkout: Checkout
    first: Ended
    #: artefacts under their final names after the disturbance, and digests
    left: dict[str, str]
    #: whether all processes of the first run ended without help
    alone: bool
    #: whether its jobs were forks of a warm process
    warm: bool
    locks: list[str]
    log: str
    again: Ended


def disturb(kind, checkout, rules, targets, how, place=IN_TRAINING, env=None) -> Disturbed:
    """Start, until jobs of ``rules`` wait, do ``how(run, checkout)``, look, start again."""
    paused = Paused(checkout.root, place)
    targets = [f"{RESULTS}/{name}" for name in targets]
    with paused.start_until(rules, *targets, env=env) as run:
        processes = run.processes()
        assert set(paused.waiting().values()) <= {process.pid for process in processes}
        warm = any("featlearn.core.run.warm" in command(process) for process in processes)
        how(run, paused)
        first = run.wait()
        alone = gone(processes)
    left, locks = paused.made(), paused.locks()
    log = (paused / f"{RESULTS}/logs/toy/pretrain.log").read_text(encoding="utf-8")
    paused.go_on()
    again = paused.snakemake(*targets, env=env)
    return Disturbed(kind, paused, first, left, alone, warm, locks, log, again)


def command(process) -> list[str]:
    """The words that started it; none if it ended since it was listed."""
    try:
        return process.cmdline()
    except psutil.NoSuchProcess:  # a zombie is one
        return []


def kill_run(run, paused):
    run.process.send_signal(signal.SIGKILL)


def kill_job(run, paused):
    """What works; where that is a fork, it has another process as its proxy."""
    psutil.Process(paused.waiting()["toy_pretrain"]).send_signal(signal.SIGKILL)
    paused.go_on()


def kill_proxy(run, paused):
    """What Snakemake started; the fork that works for it must go with it."""
    job = psutil.Process(paused.waiting()["toy_pretrain"])
    for proxy in run.processes():
        if any("/.snakemake/scripts/" in word for word in command(proxy)):
            proxy.send_signal(signal.SIGKILL)
    assert gone([job])
    paused.go_on()


def terminate_run(run, paused):
    """Snakemake lets the jobs at work end, and starts no further one."""
    run.process.send_signal(signal.SIGTERM)
    paused.go_on()


def ctrl_c(run, paused):
    run.ctrl_c()


#: Rules that wait, targets, what happens, and how else the run is started.
KINDS = {
    "kill_run": (BOTH, MANY, kill_run, {}),
    "kill_job": (ONE, MANY, kill_job, {}),
    "kill_proxy": (ONE, MANY, kill_proxy, {}),
    "ctrl_c": (ONE, MANY, ctrl_c, {}),
    "terminate_run": (ONE, [DOWNSTREAM], terminate_run, {"env": COLD}),
    "kill_commit": (ONE, [PRETRAINED], kill_run, {"place": IN_COMMIT, "env": COLD}),
    "kill_run, cold": (BOTH, [DOWNSTREAM, SUPERVISED], kill_run, {"env": COLD}),
    "kill_job, cold": (ONE, [PRETRAINED], kill_job, {"env": COLD}),
    "ctrl_c, cold": (ONE, [PRETRAINED], ctrl_c, {"env": COLD}),
}
WARM = [kind for kind, (*_, options) in KINDS.items() if not options]
TRAINING_LOST = [kind for kind in KINDS if kind not in ("terminate_run", "kill_commit")]


def of_kinds(*kinds):
    return pytest.mark.parametrize("outcome", kinds, indirect=True)


@pytest.fixture(scope="module")
def outcome(request, fresh_toy):
    """What became of a run; tests of one kind come one after another."""
    rules, targets, how, options = KINDS[request.param]
    return disturb(request.param, fresh_toy(), rules, targets, how, **options)


@of_kinds(*KINDS)
def test_nothing_is_half_written_and_the_same_command_ends_in_the_same_bytes(outcome, toy_finished):
    kind, whole = outcome.kind, toy_finished.made()
    assert outcome.first.code != 0, outcome.first.text
    assert outcome.warm == (kind in WARM)
    assert {name: whole[name] for name in outcome.left} == outcome.left
    if kind in TRAINING_LOST:
        assert not {PRETRAINED, GROWTH} & set(outcome.left)
    assert outcome.alone, "a process outlived its run"
    assert outcome.locks == []
    assert outcome.again.code == 0, outcome.again.text
    made = outcome.checkout.made()
    assert {name: whole[name] for name in made} == made
    assert set(KINDS[kind][1]) <= set(made)
    assert outcome.checkout.staged() == []


@of_kinds("kill_run", "kill_run, cold")
def test_a_killed_run_is_completed_up_to_its_claims(outcome):
    assert outcome.first.code == -signal.SIGKILL
    assert set(outcome.again.finished) >= {*BOTH, "toy_downstream"}
    if outcome.kind == "kill_run":
        assert LEDGER in outcome.checkout.made()


@of_kinds("kill_commit")
def test_a_job_killed_between_two_of_its_outputs_is_run_again(outcome):
    assert set(outcome.left) == {GROWTH}
    assert outcome.again.finished == {"toy_pretrain": 1}
    assert PRETRAINED in outcome.checkout.made()


@of_kinds("kill_job", "kill_proxy", "kill_job, cold")
def test_a_killed_script_is_named_with_its_log(outcome):
    text = outcome.first.text
    assert "SIGKILL" in text
    assert "Error in rule toy_pretrain" in text
    assert f"{RESULTS}/logs/toy/pretrain.log" in text


@of_kinds("terminate_run")
def test_a_run_that_shall_end_finishes_the_job_at_work(outcome):
    assert outcome.first.finished == {"toy_pretrain": 1}
    assert PRETRAINED in outcome.left
    assert outcome.again.finished == {"toy_downstream": 1}


@of_kinds("ctrl_c", "ctrl_c, cold")
def test_the_log_of_an_interrupted_job_says_so(outcome):
    assert "KeyboardInterrupt" in outcome.log


def test_a_run_that_stands_still_for_a_while_goes_on(fresh_toy, toy_finished):
    """SIGSTOP, as from a laptop's lid or a scheduler, and SIGCONT, to all of it and to one job."""
    paused = Paused(fresh_toy().root)
    with paused.start_until(BOTH, *(f"{RESULTS}/{name}" for name in MANY)) as run:
        every = [psutil.Process(run.pid), *run.processes()]
        for one in every:
            one.suspend()
        paused.go_on()
        before = paused.made()
        time.sleep(2)
        assert {one.status() for one in every} <= {psutil.STATUS_STOPPED, psutil.STATUS_ZOMBIE}
        assert paused.made() == before
        for one in every:
            one.resume()
        run.wait().well()
    whole = toy_finished.made()
    made = paused.made()
    assert len(made) > len(before)
    assert {name: whole[name] for name in made} == made
