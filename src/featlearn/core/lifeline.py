"""Ends a job that nobody waits for any more: its run was killed, or another run took its place.

A run that is killed tells its jobs nothing: no signal reaches the processes that it started, and
jobs that it gave to a scheduler stay there. Without this, trainings would go on that nobody sees,
beside those of the next run.
"""

from __future__ import annotations

import os
import platform
import shutil
import threading
import time
from pathlib import Path

import psutil

#: ``host:pid`` of the process that runs the workflow, or its part on this machine.
RUN_PROCESS = "FEATLEARN_RUN_PROCESS"
#: The run that jobs belong to, on whichever machine they are.
RUN = "FEATLEARN_RUN"
#: Holds the name of the last run that was started in a results folder.
LAST_RUN = ".run"
REPLACED = "another run was started in this folder since: this job is no longer wanted"


def is_replaced(results: Path) -> bool:
    """Whether a later run than the one that this process belongs to has taken over ``results``."""
    own = os.environ.get(RUN)
    if own is None:
        return False
    try:
        last = (results / LAST_RUN).read_text(encoding="utf-8").strip()
    except OSError:
        return False
    return last not in ("", own)


def _is_gone(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def follow(results: Path, staging: Path) -> None:
    """End this process, without what it staged, once its run is gone or was replaced."""
    host, _, pid = os.environ.get(RUN_PROCESS, "").rpartition(":")
    beside = int(pid) if host == platform.node() else None
    if beside is None and RUN not in os.environ:
        return

    def watch() -> None:
        while not (is_replaced(results) or (beside is not None and _is_gone(beside))):
            time.sleep(0.5)
        shutil.rmtree(staging, ignore_errors=True)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
