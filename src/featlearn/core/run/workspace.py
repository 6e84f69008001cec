"""What the workflow does around its jobs: one run a folder, damage found, leftovers swept."""

from __future__ import annotations

import errno
import fcntl
import json
import logging
import os
import platform
import shutil
import subprocess
import sys
import time
import uuid
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any

import psutil

from featlearn.core.errors import FeatlearnError
from featlearn.core.files import write_atomically
from featlearn.core.run import provenance
from featlearn.core.run.job import STAGING
from featlearn.core.run.progress import clock
from featlearn.core.run.warm import LAST_RUN, RUN, RUN_PROCESS

LOCK = ".lock"
#: The report of a run that failed; gone once a run ends well.
UNFINISHED = "unfinished.html"
#: Errors of a file system without locks: there users must start one run at a time.
NO_LOCKS = (errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS)
#: Begins the last line of the log of a job that failed.
FAILED = "error in rule "
#: Of a job that left its staging folder, and no error in its log.
SILENT = (
    "ended without a word. Most often the system killed it for its memory: give the job more "
    "(--set-resources RULE:mem_mb=N), or run fewer jobs at once (--cores); else a library crashed"
)
#: Messages of Snakemake that the line of a finished job replaces.
HIDDEN = {
    "JOB_INFO", "GROUP_INFO", "JOB_STARTED", "JOB_FINISHED", "PROGRESS", "RUN_INFO",
    "RESOURCES_INFO",
}  # fmt: skip
_held: dict[Path, IO[str]] = {}


def announce(source_root: Path, *, is_main: bool) -> None:
    """Tell scripts, on cluster nodes too, the library's place and the run's process."""
    os.environ["PYTHONPATH"] = str(source_root)
    os.environ[RUN_PROCESS] = f"{platform.node()}:{os.getpid()}"
    if is_main:
        os.environ[RUN] = uuid.uuid4().hex


def one_line_a_job(logger: logging.Logger, jobs: Iterable[Any]) -> None:
    """Show a finished job as one line, ``[37/210] 4:10 mrp_classes``."""
    rules = {job.jobid: job.rule.name for job in jobs}
    started, done = time.monotonic(), set[int]()

    def is_shown(record: Any) -> bool:
        event = getattr(getattr(record, "event", None), "name", "")
        if event == "JOB_FINISHED" and record.job_id in rules:
            done.add(record.job_id)
            words = f"[{len(done)}/{len(rules)}]", clock(time.monotonic() - started)
            print(*words, rules[record.job_id], sep="  ", file=sys.stderr, flush=True)
        return event not in HIDDEN and not str(record.msg).startswith("Select jobs")

    for handler in logger.handlers:
        if handler.name == "DefaultStreamHandler":
            handler.addFilter(is_shown)


def _try_lock(results: Path) -> IO[str] | None:
    """Lock ``results`` for this process. The system frees it when the process ends, however."""
    results.mkdir(parents=True, exist_ok=True)
    file = open(results / LOCK, "a+", encoding="utf-8")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno not in NO_LOCKS:
            file.close()
            if isinstance(error, BlockingIOError):
                return None
            raise
    file.truncate(0)
    file.write(f"{os.getpid()}\n")
    file.flush()
    return file


def hold(results: Path) -> None:
    """Keep ``results`` for this process until it ends; FeatlearnError if another run holds it."""
    if results in _held:
        return
    try:
        file = _try_lock(results)
        if file is None:
            owner = (results / LOCK).read_text(encoding="utf-8").strip() or "unknown"
            raise FeatlearnError(
                f"another run (process {owner}) is working in {results}. Wait for it, stop it, or "
                "give this run a folder of its own with --config run=NAME."
            )
        _held[results] = file
        write_atomically(results / LAST_RUN, f"{os.environ.get(RUN, '')}\n".encode())
    except OSError as error:
        raise FeatlearnError(f"{results}: {error}") from error
    for folder in (results / STAGING).glob("*"):
        if f"-{platform.node()}-" not in folder.name:
            shutil.rmtree(folder, ignore_errors=True)


def mend(results: Path, *, thorough: bool = False) -> list[str]:
    """Set aside artefacts with changed bytes, a line each, and sweep what killed jobs left."""
    if not (results.is_dir() and os.access(results, os.W_OK) and (lock := _try_lock(results))):
        return []
    with lock:  # while it is held no run can start
        for folder in killed(results):
            shutil.rmtree(folder, ignore_errors=True)
        lines = []
        for artefact, fault in provenance.damaged_artefacts(results, thorough=thorough).items():
            aside = provenance.set_aside(results, artefact)
            lines.append(f"{artefact} is damaged ({fault}). Moved to {aside}; it will be rebuilt.")
        return lines


def killed(results: Path) -> dict[Path, str]:
    """Staging folders that jobs of this machine left when they were killed, each with its rule."""
    folders = {}
    for folder in sorted((results / STAGING).glob("*")):
        name, _, pid = folder.name.rpartition("-")
        rule, ours, _ = name.rpartition(f"-{platform.node()}")
        if ours and pid.isdigit() and not psutil.pid_exists(int(pid)):
            folders[folder] = rule
    return folders


def told_by(script: Path, content: Any) -> str:
    """What a script says of JSON: it imports what a plan must not. FeatlearnError if it fails."""
    command, given = [sys.executable, str(script)], json.dumps(content)
    done = subprocess.run(command, input=given, text=True, capture_output=True, check=False)
    if done.returncode:
        raise FeatlearnError(done.stderr.strip() or f"{script}: {done.returncode}")
    return done.stdout


def write_unfinished(root: Path, results: Path, content: dict[str, Any]) -> None:
    """Write ``unfinished.html``: see :func:`featlearn.core.publishing.report.write_unfinished`."""
    silent = dict.fromkeys(killed(results).values(), SILENT)
    try:
        print(told_by(root / "scripts/unfinished.py", content | {"killed": silent}), end="")
    except FeatlearnError as error:  # which hides no error of the run
        print(error, file=sys.stderr)
