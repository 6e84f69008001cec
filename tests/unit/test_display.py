"""What a run says of itself: counts by paper, what runs, time left; quiet where nobody looks on."""

from __future__ import annotations

import io
import logging
import threading
import time
from enum import Enum

import pytest
from snakemake.scheduling.job_scheduler import JobScheduler

from featlearn.core import display, run
from featlearn.core.display import Display, is_replaced

Event = Enum("Event", "JOB_STARTED JOB_FINISHED JOB_ERROR JOB_INFO PROGRESS")
JOBS = {1: ("train", "mrp"), 2: ("train", "mrp"), 3: ("show", "toy"), 4: ("report", "results")}


class Screen(io.StringIO):
    def __init__(self, seen=True):
        super().__init__()
        self.seen = seen

    def isatty(self):
        return self.seen


def record(event=None, msg="", **more):
    made = logging.LogRecord("snakemake", logging.INFO, "", 0, msg, None, None)
    made.__dict__ |= {"event": event} | more
    return made


def clocked(monkeypatch):
    now = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    return now


def test_a_line_counts_by_paper_and_tells_what_runs_and_how_long(monkeypatch):
    now, screen = clocked(monkeypatch), Screen()
    shown = Display(JOBS, cores=2, stream=screen)
    shown.emit(record(Event.JOB_STARTED, jobs=[1, 2]))
    now[0] += 10
    shown.emit(record(Event.JOB_FINISHED, job_id=1))
    # the other training is due now; two jobs of ten seconds, the mean so far, on two cores
    assert screen.getvalue() == (
        "[1/4]  mrp 1/2  toy 0/1  results 0/1  0:10, about 0:10 left  now train\n"
    )


def test_an_earlier_run_tells_how_long_a_rule_takes(monkeypatch):
    now = clocked(monkeypatch)
    shown = Display(JOBS, cores=1, known={"train": 60, "show": 2, "report": 3}, stream=Screen())
    assert shown.left(now[0]) == 60 + 60 + 2 + 3


def test_where_nobody_looks_on_lines_are_rare_and_the_last_one_is_told(monkeypatch):
    now, file = clocked(monkeypatch), Screen(seen=False)
    shown = Display(JOBS, cores=2, stream=file)
    for number in JOBS:
        shown.emit(record(Event.JOB_STARTED, jobs=[number]))
        now[0] += 1
        shown.emit(record(Event.JOB_FINISHED, job_id=number))
    lines = file.getvalue().splitlines()
    assert [line.partition("  ")[0] for line in lines] == ["[1/4]", "[4/4]"]


def test_failures_are_counted(monkeypatch):
    clocked(monkeypatch)
    shown = Display(JOBS, cores=2, stream=(screen := Screen()))
    shown.emit(record(Event.JOB_STARTED, jobs=[1, 3]))
    shown.emit(record(Event.JOB_ERROR, jobid=1))
    shown.emit(record(Event.JOB_FINISHED, job_id=3))
    assert "  1 failed" in screen.getvalue()
    assert "now" not in screen.getvalue()


@pytest.mark.parametrize(
    ("told", "replaced"),
    [
        (record(Event.JOB_INFO), True),
        (record(Event.PROGRESS), True),
        (record(msg="Select jobs to execute..."), True),
        (record(Event.JOB_ERROR, msg="Error in rule"), False),
        (record(msg="results/x is damaged"), False),
    ],
)
def test_only_what_the_lines_say_is_taken_off_the_screen(told, replaced):
    assert is_replaced(told) == replaced


def test_snakemake_can_be_left_to_speak(monkeypatch):
    monkeypatch.setenv(display.SWITCH, "snakemake")
    logger = logging.getLogger("test-display")
    display.install(logger, [], "results/x", 2)
    assert not logger.handlers


# --------------------------------------------------------------------------- looks at the open jobs


class Scheduler:
    """What :func:`look_once` needs of Snakemake's."""

    def __init__(self):
        self._open_jobs = threading.Semaphore(0)

    def _schedule_reevalutation(self, delay):
        threading.Timer(delay, self._open_jobs.release).start()


def looks(scheduler, seconds):
    """How often the scheduler is asked to look within so many seconds; each look sets a timer."""
    end, found = time.monotonic() + seconds, 0
    while scheduler._open_jobs.acquire(timeout=max(end - time.monotonic(), 0)):
        found += 1
        scheduler._schedule_reevalutation(0.05)
    return found


def test_however_many_jobs_ended_one_look_is_waited_for():
    calm = type("Calm", (Scheduler,), {})
    run.look_once(calm)
    scheduler = calm()
    for _ in range(20):  # the ends of jobs
        scheduler._schedule_reevalutation(0.05)
    # a timer never rings too soon; as Snakemake has it there would be 200
    assert 1 <= looks(scheduler, 0.5) <= 11


def test_snakemakes_scheduler_still_has_these_timers_and_another_stays_as_it_is():
    assert callable(JobScheduler._schedule_reevalutation)
    other = type("Other", (), {})
    run.look_once(other)
    assert not hasattr(other, "_schedule_reevalutation")
