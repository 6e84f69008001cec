"""What the workflow does around its jobs: one run a folder, damage found, leftovers swept."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import psutil

from featlearn.core import machine_faults, provenance
from featlearn.core.errors import FeatlearnError
from featlearn.core.files import write_atomically
from featlearn.core.job import STAGING
from featlearn.core.lifeline import LAST_RUN, RUN, RUN_PROCESS

LOCK = ".lock"
#: The report of a run that failed; gone once a run ends well.
UNFINISHED = "unfinished.html"
#: Seconds by which the clocks of a file server and of this machine may differ.
CLOCKS_DIFFER = 2.0
#: What a file system says that knows no locks.
NO_LOCKS = (errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS)
#: Begins the last line of the log of a job that failed.
FAILED = "error in rule "
#: How Snakemake tells of a script that failed: how it ended, and then its rule and its log.
ENDED = re.compile(
    r"returned non-zero exit status (?P<status>\d+)|died with <Signals\.(?P<signal>\w+)"
    r"|(?P<missing>MissingOutputException) in rule (?P<empty>\w+)"
    r"|Error in rule (?P<rule>\w+):|^ +log: (?P<log>\S+) \(check",
    re.MULTILINE,
)
_held: dict[Path, IO[str]] = {}


def announce(source_root: Path, *, is_main: bool) -> None:
    """Tell the scripts that this process starts where the library is and whom to outlive not.

    Nothing needs to be installed for them, on a cluster node either. There Snakemake is started
    once more for each job: that is not the main process, and belongs to the run that submitted it.
    """
    os.environ["PYTHONPATH"] = str(source_root)
    os.environ[RUN_PROCESS] = f"{platform.node()}:{os.getpid()}"
    if is_main:
        os.environ[RUN] = uuid.uuid4().hex


def look_once(scheduler: type) -> None:
    """Let Snakemake's scheduler wait for one further look at the open jobs, not for hundreds.

    Each look sets a timer for the next one, in a second, and so does the end of each job: after N
    jobs there are N looks a second (Snakemake 9). That took a third of a core at the
    end of a desk run.

    Parameters
    ----------
    scheduler
        ``JobScheduler``; is changed. One that knows no such timers stays as it is.
    """
    name = "_schedule_reevalutation"
    if not hasattr(scheduler, name):
        return

    def look_again(self: Any, delay: float) -> None:
        if getattr(self, "_looks_again", False):
            return

        def look() -> None:
            self._looks_again = False
            self._open_jobs.release()

        self._looks_again = True
        timer = threading.Timer(delay, look)
        timer.daemon = True
        timer.start()

    setattr(scheduler, name, look_again)


def _try_lock(results: Path) -> IO[str] | None:
    """Lock ``results`` for this process. The system frees it when the process ends, however."""
    results.mkdir(parents=True, exist_ok=True)
    file = open(results / LOCK, "a+", encoding="utf-8")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        return None
    except OSError as error:
        if error.errno not in NO_LOCKS:
            file.close()
            raise
        # then it is for the user to see to it that one run at a time works here
    file.truncate(0)
    file.write(f"{os.getpid()}\n")
    file.flush()
    return file


def hold(results: Path) -> None:
    """Keep ``results`` for this process until it ends.

    Raises
    ------
    FeatlearnError
        If another run holds it, or nothing can be written there.
    """
    if results in _held:
        return
    try:
        file = _try_lock(results)
    except OSError as error:
        words = machine_faults.explain(error, str(results)) or f"{results}: {error}"
        raise FeatlearnError(words) from error
    if file is None:
        owner = (results / LOCK).read_text(encoding="utf-8").strip() or "unknown"
        raise FeatlearnError(
            f"another run (process {owner}) is working in {results}. Wait for it, stop it, or "
            "give this run a folder of its own with --config run=NAME."
        )
    _held[results] = file
    try:
        _take_over(results)
    except OSError as error:
        words = machine_faults.explain(error, str(results)) or f"{results}: {error}"
        raise FeatlearnError(words) from error


def _take_over(results: Path) -> None:
    """From now on jobs that earlier runs left with a scheduler end themselves: sweep after them."""
    write_atomically(results / LAST_RUN, f"{os.environ.get(RUN, '')}\n".encode())
    for folder in (results / STAGING).glob("*"):
        if f"-{platform.node()}-" not in folder.name:
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def alone(results: Path) -> Iterator[bool]:
    """Whether no run is at work in ``results`` right now; while inside, none can start."""
    if not (results.is_dir() and os.access(results, os.W_OK)):
        yield False
        return
    file = _try_lock(results)
    try:
        yield file is not None
    finally:
        if file is not None:
            file.close()


def mend(results: Path, *, thorough: bool = False) -> list[str]:
    """Set aside what is no longer what was written, and sweep what killed jobs left behind.

    Does nothing while a run is at work. ``thorough`` hashes every artefact, also those whose size
    and time of change are what they were.

    Returns
    -------
    list of str
        One line a damaged artefact: its name, what is wrong, where it went; and one if artefacts
        were dated in the future.
    """
    with alone(results) as free:
        if not free:
            return []
        _sweep(results)
        lines = []
        for artefact, fault in provenance.damaged_artefacts(results, thorough=thorough).items():
            aside = provenance.set_aside(results, artefact)
            lines.append(f"{artefact} is damaged ({fault}). Moved to {aside}; it will be rebuilt.")
        if count := _date_back(results):
            lines.append(
                f"{count} artefacts in {results} were dated in the future: the clock was set back. "
                "They are dated now."
            )
        return lines


def _date_back(results: Path) -> int:
    """Date artefacts of the future now; how many there were.

    Snakemake refuses what a job makes if it seems older than what it was made from, so that no job
    would end well until the clock is where it was.
    """
    now = time.time()
    folder = results / provenance.RECORDS
    count = 0
    for record in folder.rglob("*.json"):  # which are not read: only names matter
        artefact = results / str(record.relative_to(folder))[: -len(".json")]
        own = artefact.is_file() and not artefact.is_symlink()
        if own and artefact.stat().st_mtime > now + CLOCKS_DIFFER:
            os.utime(artefact, (now, now))
            count += 1
    return count


def _sweep(results: Path) -> None:
    """Remove staging folders whose process is gone; those of other machines are left alone."""
    for folder in killed(results):
        shutil.rmtree(folder, ignore_errors=True)


def killed(results: Path) -> dict[Path, str]:
    """Staging folders that jobs of this machine left when they were killed, each with its rule."""
    found = {}
    for folder in sorted((results / STAGING).glob("*")):
        name, _, pid = folder.name.rpartition("-")
        rule, ours, _ = name.rpartition(f"-{platform.node()}")
        if ours and pid.isdigit() and not psutil.pid_exists(int(pid)):
            found[folder] = rule
    return found


def ends(text: str) -> dict[str, tuple[str, str]]:
    """Of each rule that failed how its script ended and its log, as Snakemake's own log tells."""
    found: dict[str, tuple[str, str]] = {}
    end = rule = ""
    for told in ENDED.finditer(text):
        if told["status"] or told["signal"]:
            end = told["signal"] or f"exit status {told['status']}"
        elif told["missing"]:
            rule = told["empty"]
            found[rule] = "exit status 0", ""
        elif told["rule"]:
            rule = told["rule"]
            found[rule] = end or found.get(rule, ("",))[0], ""
            end = ""
        elif rule:
            found[rule] = found[rule][0], told["log"]
    return found


def silent_end(end: str) -> str:
    """What a user should know of a job that said nothing.

    Parameters
    ----------
    end
        A signal or an exit status; empty if that is not known.
    """
    if end in ("", "SIGKILL"):
        return (
            "killed from outside (SIGKILL). Most often the system took its memory back: give the "
            "job more (--set-resources RULE:mem_mb=N), or run fewer jobs at once (--cores)"
        )
    return (
        f"ended without a word ({end}): a library crashed, or something ended the process past "
        "Python. Started again alone, with the file as the only target, it may say more"
    )


def note_silent_ends(results: Path, logs: Iterable[Path]) -> dict[str, str]:
    """How jobs ended that did so without a word: of each rule the words, in its log too.

    Parameters
    ----------
    logs
        Of Snakemake.
    """
    texts = [log.read_text(encoding="utf-8", errors="replace") for log in logs if log.is_file()]
    known = ends("\n".join(texts))
    found = {}
    for rule in sorted(set(killed(results).values())):
        end, log = known.get(rule, ("", ""))
        found[rule] = silent_end(end)
        if log and Path(log).is_file():
            with open(log, "a", encoding="utf-8") as file:
                file.write(f"{FAILED}{rule}: {found[rule]}\n")
    return found


def tell_unfinished(root: Path, told: dict[str, Any]) -> None:
    """Write ``unfinished.html``: what the run made, what is missing, and why.

    In a process of its own: it imports what building a plan must not, and an error of it hides no
    error of the run.

    Parameters
    ----------
    root
        The repository.
    told
        As :func:`featlearn.core.unfinished.write` takes it.
    """
    script = str(root / "scripts" / "unfinished.py")
    subprocess.run([sys.executable, script], input=json.dumps(told), text=True, check=False)


def check_claims(root: Path, claims: list[dict[str, Any]]) -> None:
    """Refuse claims that cannot be judged, before anything is computed for them.

    In a process of its own, for what declares claims imports what building a plan must not.

    Parameters
    ----------
    root
        The repository.
    claims
        Of each experiment as :func:`featlearn.core.claims.check` takes it.

    Raises
    ------
    FeatlearnError
        In the words of that function.
    """
    script = str(root / "scripts" / "check_claims.py")
    done = subprocess.run(
        [sys.executable, script], input=json.dumps(claims), text=True, capture_output=True
    )
    if done.returncode:
        raise FeatlearnError(done.stderr.strip() or f"{script}: exit status {done.returncode}")


def forget_unfinished(results: Path) -> None:
    """Remove the report of an earlier run that failed."""
    (results / UNFINISHED).unlink(missing_ok=True)
