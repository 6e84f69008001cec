"""Copies of the repository in which the real workflow runs, and what is seen of it from outside."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Self

import psutil
import yaml

REPOSITORY = Path(__file__).resolve().parents[2]
SMOKE = "config/scale/smoke.yaml"
#: What plans noted of the sources, by their bytes: a fresh copy's first plan need not read them.
NOTES = ".snakemake/featlearn-notes.json"
#: No test asserts on time. These only end what hangs.
PATIENCE = 3000
GONE = 120
#: Run by ``python -c``: a shell that starts pytest in the background may have it ignore Ctrl-C.
WITH_SIGINT = (
    "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); "
    "os.execv(sys.executable, [sys.executable, *sys.argv[1:]])"
)
#: What the surroundings of pytest must not hand on: the copy uses its own src, profile, threads.
KEPT_OUT = ("PYTHON", "SNAKEMAKE_", "FEATLEARN_", "OMP_", "MKL_", "OPENBLAS_", "CUBLAS_")


def environment(**more: str) -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith(KEPT_OUT)}
    return kept | more


def python(folder: Path, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *words], cwd=folder, env=environment(**more),
        capture_output=True, text=True, check=False, timeout=PATIENCE,
    )  # fmt: skip


def script_of(name: str, root: Path, monkeypatch: Any) -> ModuleType:
    monkeypatch.setattr(sys, "path", list(sys.path))
    spec = importlib.util.spec_from_file_location(name, root / f"scripts/{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def digest(path: Path) -> str:
    """SHA-256, without the library under test."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def take_notes(folder: Path) -> None:
    if (REPOSITORY / NOTES).is_file():
        (folder / NOTES).parent.mkdir(exist_ok=True)
        shutil.copy2(REPOSITORY / NOTES, folder / NOTES)


def wait_for(what: Callable[[], Any], why: str, seconds: float = PATIENCE) -> Any:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := what():
            return found
        time.sleep(0.02)
    raise TimeoutError(why)


@dataclass(frozen=True)
class Ended:
    """How a command ended, and all that it printed."""

    code: int
    text: str

    @property
    def planned(self) -> dict[str, int]:
        """Number of jobs a rule in Snakemake's table; empty if nothing is to be done."""
        _, _, table = self.text.partition("Job stats:\n")
        rows = re.findall(r"^(\w+) +(\d+)$", table.partition("\ntotal")[0], re.MULTILINE)
        return {rule: int(count) for rule, count in rows}

    @property
    def finished(self) -> dict[str, int]:
        """Number of jobs a rule that ended well; of a module Snakemake itself says so."""
        line = r"^(?:\[\d+/\d+\]  [\d:]+  |Finished jobid: \d+ \(Rule: )(\w+)\)?$"
        return dict(Counter(re.findall(line, self.text, re.MULTILINE)))

    @property
    def nothing_to_do(self) -> bool:
        return self.code == 0 and "Nothing to be done" in self.text and not self.planned

    def well(self) -> Ended:
        """The same, after a look at the exit code."""
        assert self.code == 0, self.text
        return self

    def refused(self, *words: str) -> str:
        """What an error told: these words, and no traceback of Python."""
        assert self.code != 0, self.text
        assert "Traceback" not in self.text
        assert all(word in self.text for word in words), self.text
        return self.text


class Started:
    """A command at work, in a process group of its own; what it prints goes to a file."""

    def __init__(self, command: Sequence[str], folder: Path, env: dict[str, str]):
        self._output = folder / f"output-{time.monotonic_ns()}.txt"
        with open(self._output, "wb") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-c", WITH_SIGINT, *command], cwd=folder, env=env,
                stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                start_new_session=True,
            )  # fmt: skip

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: Any, *_: object) -> None:
        """For a test that went wrong: nothing of its run shall stay behind."""
        if kind is not None:
            self.kill_all()

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def text(self) -> str:
        return self._output.read_text(encoding="utf-8", errors="replace")

    def processes(self) -> list[psutil.Process]:
        return psutil.Process(self.pid).children(recursive=True)

    def ctrl_c(self) -> None:
        """What the terminal does: SIGINT to the run and to the scripts that it started."""
        os.killpg(self.pid, signal.SIGINT)

    def kill_all(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        self.process.wait()

    def wait(self) -> Ended:
        """Wait for the end. What still works after ``PATIENCE`` is killed, scripts included."""
        try:
            code = self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.kill_all()
            raise
        text = self.text
        self._output.unlink()
        return Ended(code, text)


class Checkout:
    """A folder with the files of the repository; every command runs in it."""

    def __init__(self, root: Path):
        self.root = root

    @classmethod
    def of_repository(cls, root: Path) -> Checkout:
        """Tracked files and new ones that git does not ignore, with their times of change.

        Without the published runs: no run reads them, and a copy would cost their megabytes.
        """
        words = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z", ":!results"]
        listed = subprocess.run(words, cwd=REPOSITORY, check=True, capture_output=True)
        for name in listed.stdout.decode().rstrip("\0").split("\0"):
            source, target = REPOSITORY / name, root / name
            if source.is_symlink() or source.is_file():  # a deleted file is still listed
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(source, target, follow_symlinks=False)
        return cls(root)

    def take_notes(self) -> Self:
        take_notes(self.root)
        return self

    def copy(self, root: Path) -> Self:
        """All of it elsewhere, results and Snakemake's notes included, times as they are."""
        shutil.copytree(self.root, root, symlinks=True, dirs_exist_ok=True)
        return type(self)(root)

    def __truediv__(self, name: str) -> Path:
        return self.root / name

    def command(
        self,
        *words: str,
        configfile: str | None = SMOKE,
        changes: dict[str, Any] | str | None = None,
        cores: int = 2,
    ) -> list[str]:
        """Arguments for Python: ``-m snakemake`` with options and targets in ``words``.

        ``changes`` are laid over the config, as a dict or as the text of a YAML file.
        """
        files = [configfile] if configfile else []
        if changes is not None:
            text = changes if isinstance(changes, str) else yaml.safe_dump(changes)
            (self / "changes.yaml").write_text(text, encoding="utf-8")
            files.append("changes.yaml")
        chosen = ["--configfile", *files] if files else []
        # --configfile takes every word up to the next option
        return ["-m", "snakemake", *chosen, "--cores", str(cores), *words]

    def start(self, *words: str, env: dict[str, str] | None = None, **options: Any) -> Started:
        return Started(self.command(*words, **options), self.root, environment(**(env or {})))

    def snakemake(self, *words: str, env: dict[str, str] | None = None, **options: Any) -> Ended:
        return self.start(*words, env=env, **options).wait()

    def plan(self, *targets: str, **options: Any) -> dict[str, int]:
        told = self.snakemake("--dry-run", *targets, **options).well()
        assert told.planned or "Nothing to be done" in told.text, told.text
        return told.planned

    def edit(self, name: str, text: str = "\n# an edit\n") -> None:
        assert (self / name).is_file(), name
        with open(self / name, "a", encoding="utf-8") as file:
            file.write(text)

    def files(self, below: str = ".") -> dict[str, str]:
        """Every file of a folder and its digest; byte code of Python does not count."""
        root = self / below
        return {
            str(path.relative_to(root)): digest(path)
            for path in sorted(root.rglob("*"))
            if path.is_file() and "__pycache__" not in path.parts
        }

    def made(self, run: str = "smoke") -> dict[str, str]:
        """What stands under a final name in the results of a run: artefact and digest."""
        aside = ("logs", "provenance", ".cache", ".staging", ".damaged", ".lock", ".run",
                 ".checkpoints")  # fmt: skip
        below = self.files(f"results/{run}")
        return {name: value for name, value in below.items() if Path(name).parts[0] not in aside}

    def checksums(self, run: str = "smoke") -> dict[str, str]:
        text = (self / f"results/{run}/checksums.txt").read_text(encoding="utf-8")
        return dict(reversed(line.split("  ", 1)) for line in text.splitlines())

    def staged(self, run: str = "smoke") -> list[str]:
        folder = self / f"results/{run}/.staging"
        return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []

    def locks(self) -> list[str]:
        """Snakemake's own locks, which a user would have to remove by hand."""
        folder = self / ".snakemake/locks"
        return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []


WAIT = """

def _wait(rule):
    import os
    import time
    from pathlib import Path

    Path(f"waiting-{os.getpid()}").write_text(rule)
    while Path("pause").exists():
        time.sleep(0.02)
"""
#: Where a job waits: a library module, and what is appended to it. It changes no number.
IN_TRAINING = (
    "src/featlearn/core/run/progress.py",
    WAIT
    + """

def _paused(self, step, see, _report=Progress.report):
    if step == 20:
        _wait(self.label)
    _report(self, step, see)


Progress.report = _paused
""",
)
#: When the first of several outputs has its final name, and the second only its record.
IN_COMMIT = (
    "src/featlearn/core/run/provenance.py",
    WAIT
    + """

def _paused(results, artefact, content, _write=write_record, _seen=[]):
    _write(results, artefact, content)
    _seen.append(artefact)
    if len(_seen) == 2:
        _wait(content["rule"])


write_record = _paused
""",
)


class Paused(Checkout):
    """A copy in which jobs wait at one place as long as the file ``pause`` is there.

    They say when they are there, so that nothing has to be timed.
    """

    def __init__(self, root: Path, place: tuple[str, str] = IN_TRAINING):
        super().__init__(root)
        self.edit(*place)
        (self / "pause").touch()

    def go_on(self) -> None:
        (self / "pause").unlink(missing_ok=True)

    def start_until(self, rules: Sequence[str], *targets: str, **options: Any) -> Started:
        """Start a run and wait until a job of each of ``rules`` waits."""
        for mark in self.root.glob("waiting-*"):
            mark.unlink()
        with self.start(*targets, **options) as run:
            wait_for(
                lambda: run.process.poll() is not None or set(rules) <= set(self.waiting()),
                f"no job of {rules} came to wait",
            )
            assert run.process.poll() is None, run.text
        return run

    def waiting(self) -> dict[str, int]:
        """Rule and process of every job that waits, or did."""
        found = {}
        for mark in self.root.glob("waiting-*"):
            if label := mark.read_text().split():
                found[label[0]] = int(mark.name.removeprefix("waiting-"))
        return found


def gone(processes: Sequence[psutil.Process]) -> bool:
    """Wait until the processes ended by themselves; those that do not are killed."""
    _, alive = psutil.wait_procs(list(processes), timeout=GONE)
    for process in alive:
        process.kill()
    return not alive
