"""A warm process: it has imported torch and pandas once, and each job of a run is a fork of it.

Importing them takes two to three seconds of each of some hundred jobs, more than many of them
compute. So a run on this machine starts one process that imports what most jobs need and nothing of
featlearn, and a job that begins asks it for a fork: :func:`delegate`. The fork runs the very script
that Snakemake wrote, with the job's own environment, folder and streams, and imports featlearn
anew. Threads are as many as the config says from the start, and none is running when a fork is
made. Where there is no such process (a node of a cluster, another Python, ``FEATLEARN_WARM=no``)
the job goes on as it is.

The process that asked stays, as the face of the job for Snakemake: it hands on signals, ends as the
fork ends, and when it is killed the fork is killed.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import json
import os
import runpy
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any

#: Names the socket of the warm process and its Python; ``no`` forbids one.
SOCKET, PYTHON = "FEATLEARN_WARM", "FEATLEARN_WARM_PYTHON"
#: What most jobs import; a module that is missing is left to the job that needs it.
IMPORTED = (
    "torch", "pandas", "pyarrow.parquet", "safetensors.torch", "matplotlib.pyplot", "seaborn",
    "snakemake.script",
)  # fmt: skip
HANDED_ON = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
FIRST_THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
#: Bytes of a message: its length in so many digits, then JSON.
DIGITS = 8
#: Fewer jobs than this are not worth it.
LEAST_JOBS = 4

_started: subprocess.Popen[bytes] | None = None


# ------------------------------------------------------------------------- the process of the run


def start(jobs: int, threads: int) -> None:
    """Start the warm process of this run, which ends with this process.

    Parameters
    ----------
    jobs
        That the run is about to make.
    threads
        Of a job, from the config.
    """
    global _started
    if os.environ.get(SOCKET) == "no" or jobs < LEAST_JOBS or not hasattr(os, "fork"):
        return
    folder = tempfile.mkdtemp(prefix="featlearn-")  # only this user may look into it
    place = str(Path(folder) / "warm")
    env = os.environ | dict.fromkeys(FIRST_THREADS, str(threads)) | {"MPLBACKEND": "Agg"}
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


# ------------------------------------------------------------------------- a job


def delegate() -> None:
    """Run this script in a fork of the warm process and end as it ends.

    Returns, with nothing done, if this process is that fork, or there is no warm process for it.
    """
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
    with socket.socket(socket.AF_UNIX) as line:
        with contextlib.suppress(OSError):
            line.connect(place)
            _send(line, {"script": sys.argv[0], "folder": str(Path.cwd()), "env": dict(os.environ)})
            socket.send_fds(line, [b"!"], [0, 1, 2])
            fork += filter(None, [_receive(line)])
        if not fork:  # the job goes on as it is
            for number, handler in before:
                signal.signal(number, handler)
        for told in early:
            _kill(fork[0] if fork else os.getpid(), told)
        if not fork:
            return
        status = _receive(line)
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
    text = json.dumps(content).encode()
    line.sendall(f"{len(text):0{DIGITS}d}".encode() + text)


def _receive(line: socket.socket) -> Any:
    """What the other side said; None if it is gone."""
    if not (head := _exactly(line, DIGITS)):
        return None
    return json.loads(_exactly(line, int(head)) or b"null")


def _exactly(line: socket.socket, count: int) -> bytes:
    found = b""
    while len(found) < count:
        try:
            part = line.recv(count - len(found))
        except ConnectionError:
            return b""
        if not part:
            return b""
        found += part
    return found


# ------------------------------------------------------------------------- the warm process


def _die_with_parent() -> None:
    """Be killed when the process that started this one ends, where the system offers it (Linux)."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)


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
    """Import, then fork a job for each that asks, until the run is over.

    Parameters
    ----------
    place
        Of the socket.
    parent
        Process of the run; this one ends with it.
    """
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
            else:  # a job's face says nothing: it is gone
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
    request = _receive(line)
    if request is None:
        return None
    _, streams, _, _ = socket.recv_fds(line, 1, 3)
    # a fork that is told to end before it can listen hears it afterwards
    signal.pthread_sigmask(signal.SIG_BLOCK, HANDED_ON)
    pid = os.fork()
    if pid == 0:
        _die_with_parent()
        selector.close()
        listening.close()
        for other in (*jobs.values(), line):
            other.close()
        _run(request, list(streams))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, HANDED_ON)
    for stream in streams:
        os.close(stream)
    with contextlib.suppress(OSError):
        _send(line, pid)
    return pid


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        serve(sys.argv[1], int(sys.argv[2]))
