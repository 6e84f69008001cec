"""A warm process: it has imported torch and pandas once, and each job of a run is a fork of it.

Imports take two to three seconds of each of some hundred jobs. The process imports what most need
and nothing of featlearn; a job asks it for a fork (:func:`delegate`), which runs the script with
the job's environment, folder and streams; or it runs as it is (a cluster, ``FEATLEARN_WARM=no``).
The process that asked stays as a proxy: it hands on signals, and ends as the fork ends. Orphaned
jobs end themselves (:func:`follow`), on a scheduler too.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import json
import os
import platform
import runpy
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from importlib import import_module
from pathlib import Path
from typing import IO, Any

import psutil

#: Names the socket of the warm process and its Python; ``no`` forbids one.
SOCKET, PYTHON = "FEATLEARN_WARM", "FEATLEARN_WARM_PYTHON"
#: What most jobs import; a module that is missing is left to the job that needs it.
IMPORTED = (
    "torch", "pandas", "pyarrow.parquet", "safetensors.torch", "matplotlib.pyplot", "seaborn",
    "snakemake.script",
)  # fmt: skip
#: ``host:pid`` of the process that runs the workflow, or its part on this machine.
RUN_PROCESS = "FEATLEARN_RUN_PROCESS"
#: The run that jobs belong to, on whichever machine they are.
RUN = "FEATLEARN_RUN"
#: Holds the name of the last run that was started in a results folder.
LAST_RUN = ".run"
REPLACED = "another run was started in this folder since: this job is no longer wanted"
HANDED_ON = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
THREAD_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
#: Fewer jobs than this are not worth it.
LEAST_JOBS = 4

_started: subprocess.Popen[bytes] | None = None


def start(jobs: int, threads: int) -> None:
    """Start the warm process of a run of so many jobs; it ends with this process."""
    global _started
    if os.environ.get(SOCKET) == "no" or jobs < LEAST_JOBS or not hasattr(os, "fork"):
        return
    folder = tempfile.mkdtemp(prefix="featlearn-")  # only this user may look into it
    place = str(Path(folder) / "warm")
    env = os.environ | dict.fromkeys(THREAD_VARIABLES, str(threads)) | {"MPLBACKEND": "Agg"}
    command = [sys.executable, "-P", "-m", __name__, place, str(os.getpid())]
    # a session of its own: Ctrl-C reaches a job through the process that asked for it, once
    _started = subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, start_new_session=True)
    os.environ[SOCKET], os.environ[PYTHON] = place, sys.executable


def stop() -> None:
    """End the warm process, once its jobs are done."""
    global _started
    if _started is not None:
        _started.terminate()
        _started.wait()
        shutil.rmtree(Path(os.environ.pop(SOCKET)).parent, ignore_errors=True)
        _started = None


def delegate() -> None:
    """Run this script in a fork of the warm process and end with it; returns without one."""
    place = os.environ.pop(SOCKET, "no")
    if place == "no" or os.environ.get(PYTHON) != sys.executable or not Path(place).exists():
        return
    fork: list[int] = []
    early: list[int] = []  # signals that came before there was a fork to hand them on to

    def hand_on(number: int, _: Any) -> None:
        if fork:
            _kill(fork[0], number)
        else:
            early.append(number)

    before = [(number, signal.signal(number, hand_on)) for number in HANDED_ON]
    with socket.socket(socket.AF_UNIX) as line, line.makefile("rb") as replies:
        with contextlib.suppress(OSError):
            line.connect(place)
            socket.send_fds(line, [b"!"], [0, 1, 2])
            _send(line, {"script": sys.argv[0], "folder": str(Path.cwd()), "env": dict(os.environ)})
            fork += filter(None, [_receive(replies)])
        if not fork:  # the job goes on as it is
            for number, handler in before:
                signal.signal(number, handler)
        for caught in early:
            _kill(fork[0] if fork else os.getpid(), caught)
        if not fork:
            return
        status = _receive(replies)
    if status is None:
        print("the process that ran this job is gone", file=sys.stderr)
        os._exit(1)
    if status < 0:  # ended by a signal: so do we, for all to see
        if -status in HANDED_ON:  # no other has a handler here, and SIGKILL takes none
            signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    os._exit(status)


def _kill(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def _send(line: socket.socket, content: Any) -> None:
    line.sendall(json.dumps(content).encode() + b"\n")


def _receive(lines: IO[bytes]) -> Any:
    """What the other side said; None if it is gone."""
    with contextlib.suppress(ConnectionError, ValueError):
        return json.loads(lines.readline())


def is_replaced(results: Path) -> bool:
    """Whether a later run than the one that this process belongs to has taken over ``results``."""
    last = ""
    with contextlib.suppress(OSError):
        last = (results / LAST_RUN).read_text(encoding="utf-8").strip()
    return RUN in os.environ and last not in ("", os.environ[RUN])


def follow(results: Path, staging: Path) -> None:
    """End this process, without what it staged, once its run is gone or was replaced."""
    host, _, pid = os.environ.get(RUN_PROCESS, "").rpartition(":")
    beside = int(pid) if host == platform.node() else None
    if beside is None and RUN not in os.environ:
        return

    def watch() -> None:
        with contextlib.suppress(psutil.NoSuchProcess):
            run = None if beside is None else psutil.Process(beside)
            while not (is_replaced(results) or (run and run.status() == psutil.STATUS_ZOMBIE)):
                time.sleep(0.5)
        shutil.rmtree(staging, ignore_errors=True)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _run(request: dict[str, Any], streams: list[int]) -> None:
    """In the fork: become the job. Does not return."""
    code = 1
    try:
        for number in HANDED_ON:
            signal.signal(number, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, HANDED_ON)
        for name in [name for name in sys.modules if name.partition(".")[0] == "featlearn"]:
            del sys.modules[name]  # an edit since the run began counts, as in a process of its own
        for target, stream in enumerate(streams):
            os.dup2(stream, target)
        os.chdir(request["folder"])
        os.environ.clear()
        os.environ.update(request["env"])
        sys.argv = [request["script"]]
        try:
            runpy.run_path(request["script"], run_name="__main__")
            code = 0
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
            if isinstance(end.code, str):
                print(end.code, file=sys.stderr)
        except BaseException as error:
            sys.excepthook(type(error), error, error.__traceback__)
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
    finally:
        os._exit(code)


def serve(place: str, parent: int) -> None:
    """Import, then fork a job for each that asks at the socket ``place``, until the run is over."""
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(place)
    listening.listen(64)  # who asks before all is imported waits
    for name in IMPORTED:
        with contextlib.suppress(ImportError):
            import_module(name)

    gc.collect()
    gc.freeze()  # no fork shall copy pages only to look for garbage
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    selector = selectors.DefaultSelector()
    selector.register(listening, selectors.EVENT_READ)
    jobs: dict[int, socket.socket] = {}
    while os.getppid() == parent:
        for key, _ in selector.select(timeout=0.02 if jobs else 0.5):
            if key.fileobj is listening:
                line, _ = listening.accept()
                if (pid := _begin(line, selector, listening, jobs)) is None:
                    line.close()
                    continue
                jobs[pid] = line
                selector.register(line, selectors.EVENT_READ, pid)
            else:  # a proxy says nothing: it is gone
                _kill(key.data, signal.SIGKILL)
                selector.unregister(key.fileobj)
        while jobs:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                break
            line = jobs.pop(pid)
            with contextlib.suppress(KeyError):
                selector.unregister(line)
            with contextlib.suppress(OSError):
                _send(line, os.waitstatus_to_exitcode(status))
            line.close()
    for pid in jobs:
        _kill(pid, signal.SIGKILL)
    shutil.rmtree(Path(place).parent, ignore_errors=True)


def _begin(
    line: socket.socket,
    selector: selectors.BaseSelector,
    listening: socket.socket,
    jobs: dict[int, socket.socket],
) -> int | None:
    """Fork a job; its process, or None if who asked is gone."""
    streams: list[int] = []
    request = pid = None
    with contextlib.suppress(ConnectionError), line.makefile("rb") as lines:
        streams = socket.recv_fds(line, 1, 3)[1]
        request = _receive(lines)
    if request is not None:
        # a fork that is told to end before it can listen hears it afterwards
        signal.pthread_sigmask(signal.SIG_BLOCK, HANDED_ON)
        pid = os.fork()
        if pid == 0:
            with contextlib.suppress(OSError, AttributeError):  # of Linux: end with who made it
                ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)
            selector.close()
            listening.close()
            for other in (*jobs.values(), line):
                other.close()
            _run(request, streams)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, HANDED_ON)
        with contextlib.suppress(OSError):
            _send(line, pid)
    for stream in streams:
        os.close(stream)
    return pid


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        serve(sys.argv[1], int(sys.argv[2]))
