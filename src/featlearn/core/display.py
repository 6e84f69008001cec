"""What a run says of itself while it works: how far it is, what runs now, about how long it takes.

Snakemake's own blocks of lines, eight for each of some hundred jobs, still stand in its log file;
on the screen a line a finished job takes their place, in a file that the output was sent to a line
now and then. Errors and all else stay as Snakemake says them. ``FEATLEARN_DISPLAY=snakemake``
leaves everything to Snakemake.
"""

from __future__ import annotations

import logging
import os
import sys
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, TextIO

from featlearn.core.progress import clock

SWITCH = "FEATLEARN_DISPLAY"
#: Seconds between two lines where nobody looks on.
QUIET = 30.0
#: What the lines stand for.
REPLACED = {
    "JOB_INFO", "GROUP_INFO", "JOB_STARTED", "JOB_FINISHED", "PROGRESS", "RUN_INFO",
    "RESOURCES_INFO",
}  # fmt: skip
CHATTER = ("Select jobs to execute", "Execute ", "Building DAG of jobs")


def event_of(record: logging.LogRecord) -> str:
    """Name of the event that a record of Snakemake tells; empty for mere words."""
    event = getattr(record, "event", None)
    return getattr(event, "name", "") if event is not None else ""


def is_replaced(record: logging.LogRecord) -> bool:
    """Whether a record says what the lines of a :class:`Display` say."""
    event = event_of(record)
    return event in REPLACED or (not event and str(record.msg).startswith(CHATTER))


class Display(logging.Handler):
    """A handler of Snakemake's log records that prints one line on the state of the run.

    Parameters
    ----------
    jobs
        Of each job's number its rule and its part of the run: a paper, or ``results``.
    cores
        Of the run.
    known
        Seconds that a job of a rule took in an earlier run.
    stream
        Where the lines go.
    """

    def __init__(
        self,
        jobs: Mapping[int, tuple[str, str]],
        cores: int,
        known: Mapping[str, float] | None = None,
        stream: TextIO | None = None,
    ):
        super().__init__()
        self.jobs, self.cores, self.known = dict(jobs), max(1, cores), dict(known or {})
        self.stream = stream or sys.stderr
        self.started = time.monotonic()
        self.told = -QUIET
        self.running: dict[int, float] = {}
        self.done: set[int] = set()
        self.failed = 0
        self.took: dict[str, list[float]] = {}

    def emit(self, record: logging.LogRecord) -> None:
        """Take note of what Snakemake says; an error of ours stops no run."""
        try:
            self._note(event_of(record), record)
        except Exception:
            self.handleError(record)

    def _note(self, event: str, record: Any) -> None:
        now = time.monotonic()
        if event == "JOB_STARTED":
            self.running |= dict.fromkeys(record.jobs, now)
        elif event == "JOB_ERROR":
            self.failed += 1
            self.running.pop(getattr(record, "jobid", -1), None)
        elif event == "JOB_FINISHED" and record.job_id in self.jobs:
            begun = self.running.pop(record.job_id, now)
            self.done.add(record.job_id)
            self.took.setdefault(self.jobs[record.job_id][0], []).append(now - begun)
            looked_at = self.stream.isatty()
            if looked_at or now - self.told >= QUIET or len(self.done) == len(self.jobs):
                self.told = now
                print(self.line(now), file=self.stream, flush=True)

    def line(self, now: float) -> str:
        """``[37/210]  mrp 30/60  contrastive 7/50  4:10, about 6:30 left  now mrp_classes``."""
        every = Counter(part for _, part in self.jobs.values())
        made = Counter(self.jobs[number][1] for number in self.done)
        papers = sorted(every, key=lambda part: (part == "results", part))
        parts = [f"{part} {made[part]}/{every[part]}" for part in papers]
        words = [f"[{len(self.done)}/{len(self.jobs)}]", *parts, f"{clock(now - self.started)}"]
        if left := self.left(now):
            words[-1] += f", about {clock(left)} left"
        if self.failed:
            words.append(f"{self.failed} failed")
        if self.running:
            rules = Counter(self.jobs[n][0] for n in self.running if n in self.jobs)
            shown = [f"{rule} x{count}" if count > 1 else rule for rule, count in rules.items()]
            words.append("now " + ", ".join(shown[:4]) + (" ..." if len(shown) > 4 else ""))
        return "  ".join(words)

    def left(self, now: float) -> float:
        """Seconds until the end, if jobs take what those of their rule took, else the mean."""
        seen = [seconds for each in self.took.values() for seconds in each]
        mean = sum(seen) / len(seen) if seen else 0.0

        def expected(rule: str) -> float:
            own = self.took.get(rule)
            return sum(own) / len(own) if own else self.known.get(rule, mean)

        waiting = self.jobs.keys() - self.done
        work = sum(expected(self.jobs[number][0]) for number in waiting)
        work -= sum(
            min(now - begun, expected(self.jobs[number][0]))
            for number, begun in self.running.items()
            if number in waiting
        )
        return work / min(self.cores, max(1, len(waiting)))


def install(logger: logging.Logger, jobs: Iterable[Any], results: str, cores: int) -> None:
    """Let a :class:`Display` speak for a run that begins.

    Parameters
    ----------
    logger
        Snakemake's.
    jobs
        That are to be run, of Snakemake.
    results
        ``results/<run>``.
    cores
        Of the run.
    """
    if os.environ.get(SWITCH) == "snakemake":
        return
    streams = [each for each in logger.handlers if each.name == "DefaultStreamHandler"]
    if not streams:
        return  # a logger plugin was asked for
    table = {}
    for job in jobs:
        file = str(next(iter(job.output), "")).removeprefix(f"{results}/")
        table[job.jobid] = (job.rule.name, file.partition("/")[0] if "/" in file else "results")
    logger.addHandler(Display(table, cores, stream=getattr(streams[0], "stream", None)))
    for handler in streams:
        handler.addFilter(lambda record: not is_replaced(record))
