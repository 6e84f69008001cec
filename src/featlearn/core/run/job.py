"""The frame around every script: threads, log, checked inputs, outputs that appear whole.

A script imports what is heavy within ``with Job(snakemake) as job:``, when threads are set, and
writes to ``job.output``, paths in a staging folder. If the block ends well, each file is flushed,
described in a provenance record and renamed; if not, nothing has a real name and the log says why.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.metadata
import json
import os
import platform
import random
import resource
import secrets
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, TextIO

from featlearn.core.errors import DamagedFileError, DivergedError, FeatlearnError
from featlearn.core.files import digest, read_parquet, read_tensors
from featlearn.core.run import portable, provenance
from featlearn.core.run.commit import VARIABLE
from featlearn.core.run.warm import THREAD_VARIABLES, delegate, follow
from featlearn.core.training import loops

if TYPE_CHECKING:
    from types import FrameType

    import torch

STAGING = ".staging"
CHECKPOINTS = ".checkpoints"
#: Folder of the points of a run (:mod:`featlearn.core.run.points`). A training that diverges there
#: is a result: its files say so, and claims on them are not measured.
POINTS = "points"
NO_STREAM = "random numbers must come from a stream of job.seed (featlearn.core.seeds), got"
REPORTED_PACKAGES = ("numpy", "pandas", "pyarrow", "snakemake", "torch", "matplotlib", "seaborn")


class Paths(list[Path]):
    """Named paths of a job in the rule's order; ``groups``: names, also of lists of files."""

    def __init__(self, paths: Iterable[Path], names: Mapping[str, int], groups: Iterable[str] = ()):
        super().__init__(paths)
        self.names, self.groups = dict(names), tuple(groups)
        for name, place in names.items():
            setattr(self, name, self[place])

    def __getattr__(self, name: str) -> Path:
        raise AttributeError(f"the rule names no file {name!r}")


def _paths(files: Any, staged: Iterable[Path] | None = None) -> Paths:
    """Paths of a rule's files, or of where they are staged, with the rule's names."""
    places = {str(file): number for number, file in enumerate(files)}
    names = {name: places[str(value)] for name, value in files.items() if isinstance(value, str)}
    paths = map(Path, map(str, files)) if staged is None else staged
    return Paths(paths, names, (name for name, _ in files.items()))


def _short_hash(value: object) -> str:
    text = json.dumps(value, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


class _Tee:
    """Writes to the terminal and to the log; a log on a full disk stops no job."""

    def __init__(self, terminal: Any, log: Any):
        self.terminal, self.log = terminal, log

    def write(self, text: str) -> int:
        self.terminal.write(text)
        with contextlib.suppress(OSError):
            self.log.write(text)
        return len(text)

    def flush(self) -> None:
        self.terminal.flush()
        with contextlib.suppress(OSError):
            self.log.flush()

    def isatty(self) -> bool:
        return False


class Job:
    """Context of one rule's script; see the module's text.

    ``snakemake``: what Snakemake hands to a script. Its params hold ``code`` (the fingerprint) and
    may hold ``config`` (what the rule reads of it), ``seed``, ``threads`` and ``contains``: a word
    for all outputs, or one each. ``device``: see :func:`featlearn.core.training.devices.prepare`.
    """

    device: torch.device

    def __init__(self, snakemake: Any):
        delegate()  # from here on in a fork of the run's warm process, if it has one
        self.rule: str = snakemake.rule
        self.params = snakemake.params
        self.wildcards = snakemake.wildcards
        self.config: Any = snakemake.params.get("config", {})
        self.threads = int(snakemake.params.get("threads", 1))
        self.results = Path(snakemake.config["results"])
        self.portable = bool(snakemake.config.get("portable", False))
        self._checkpoint_seconds = float(snakemake.config.get("checkpoint_seconds", 60))
        self.input = _paths(snakemake.input)
        self._inputs = snakemake.input
        self._final = list(_paths(snakemake.output))
        self._log = Path(str(snakemake.log[0])) if snakemake.log else None
        self._staging = self.results / STAGING / f"{self.rule}-{platform.node()}-{os.getpid()}"
        staged = [self._staging / f"{n}-{path.name}" for n, path in enumerate(self._final)]
        self.output = _paths(snakemake.output, staged)
        outputs = _short_hash(sorted(str(path) for path in self._final))
        self._kept = self.results / CHECKPOINTS / f"{self.rule}-{outputs}"
        self.digests: dict[str, str] = {}
        self._at_point = any(one.is_relative_to(self.results / POINTS) for one in self._final)
        #: What training said of input files that it did not make, for it diverged.
        self._diverged: dict[str, str] = {}
        self._says: dict[str, str] = {}

    @cached_property
    def checkpoints(self) -> Path:
        """Folder of checkpoints, which outlives a job that fails; of this config, code, seed."""
        params = {name: self.params.get(name) for name in ("code", "seed", "device", "compile")}
        params |= {"portable": True} if self.portable else {}
        given = [self.config, params, self.threads, self.digests]
        folder = self._kept / _short_hash(given)
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def tell(self, words: str) -> None:
        """Say in the log and on the terminal what is done next."""
        print(f"{self.rule}: {words}", file=sys.stderr, flush=True)

    def files(self, name: str) -> list[Path]:
        """The input files under ``name``: one, or those that the rule gives as a list, if any."""
        files = self._inputs.get(name)
        if files is None:
            raise FeatlearnError(f"rule {self.rule}: no input {name!r}; expected one of it")
        return [Path(str(file)) for file in ([files] if isinstance(files, str) else files)]

    def refuse_diverged(self, files: Iterable[Any] | None = None) -> None:
        """Raise a DivergedError if the training behind some input files (all if none) diverged."""
        for file in self.input if files is None else files:
            if words := self._diverged.get(str(file)):
                raise DivergedError(words)

    def _some_files(self, name: str) -> list[Path]:
        if not (files := self.files(name)):
            raise FeatlearnError(f"rule {self.rule}: input {name!r} is a list of no files")
        return files

    @property
    def seed(self) -> int:
        """Of all streams of the run."""
        return int(self.params.seed)

    def frame(self, name: str) -> Any:
        """The tidy frame under ``name``; see :func:`read_frame`."""
        self.refuse_diverged(files := self._some_files(name))
        return read_frame(files)

    def below_results(self, name: str) -> str:
        """The first file under ``name`` below the results; empty where it is none of the run."""
        file = self._some_files(name)[0]
        inside = file.is_relative_to(self.results)
        return str(file.relative_to(self.results)) if inside else ""

    def tensors(self, name: str) -> dict[str, torch.Tensor]:
        """The named tensors of the one file under ``name``, on the job's device."""
        (file,) = self._some_files(name)
        return read_tensors(file, getattr(self, "device", "cpu"))

    def __enter__(self) -> Job:
        # the numbers must not follow what the scheduler grants: threads come from the config
        for variable in THREAD_VARIABLES:
            os.environ[variable] = str(self.threads)
        self._started = time.monotonic()
        provenance.READ.clear()
        self._streams = (sys.stdout, sys.stderr)
        self._log_file: TextIO | None = None
        try:
            if self._log:
                self._log.parent.mkdir(parents=True, exist_ok=True)
                self._log_file = open(self._log, "w", encoding="utf-8", buffering=1)
                sys.stdout, sys.stderr = (_Tee(one, self._log_file) for one in self._streams)
            self._staging.mkdir(parents=True, exist_ok=True)
            loops.offer(lambda: self.checkpoints, self._checkpoint_seconds)
            follow(self.results, self._staging)
            # a SIGTERM (time limit, Ctrl-C of the run) unwinds like an error: nothing half-written
            signal.signal(signal.SIGTERM, self._terminated)
            if self.portable:
                portable.check()
                # here and not where a device is prepared: closed forms need none, and compute
                portable.install()
            self._check_inputs()
            self._guard_draws()
        except BaseException:
            self.__exit__(*sys.exc_info())
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        loops.withdraw()
        if numpy := sys.modules.get("numpy"):
            numpy.random.bit_generator.randbits = secrets.randbits
        if diverged := self._at_point and isinstance(error, DivergedError):
            self.tell(f"at this point {error}")
            self._says, error = {"diverged": str(error)}, None
            for path in self.output:
                path.write_text(f"{self._says['diverged']}\n", encoding="utf-8")
        if error is None:
            try:
                self._commit()
            except BaseException as fault:
                error = fault
        told = error is not None and self._explain(error)
        shutil.rmtree(self._staging, ignore_errors=True)
        sys.stdout, sys.stderr = self._streams
        if self._log_file:
            with contextlib.suppress(OSError):
                self._log_file.close()
        # said in words already: no traceback on top. One that ended itself well made no files
        if told or (isinstance(error, SystemExit) and not error.code):
            sys.exit(1)
        if kind is None and error is not None:
            raise error  # of the commit
        return diverged and error is None

    def _terminated(self, *_: object) -> None:
        raise loops.Terminated

    def _check_inputs(self) -> None:
        for path in self.input:
            if not path.is_relative_to(self.results):
                continue
            if (record := provenance.read_record(self.results, path)) is not None:
                fault = provenance.damage(path, record, thorough=True)
            elif provenance.is_shared(path):  # a link to what another run made
                record, fault = provenance.adopt(self.results, path), provenance.NOT_SHARED
                fault = None if record else fault
            else:
                self.digests[str(path)] = digest(path)
                continue
            if fault or record is None:
                aside = provenance.set_aside(self.results, path)
                told = f"It was moved to {aside}; run the same command again and it is rebuilt."
                raise DamagedFileError(f"{path} is damaged ({fault}). {told}")
            self.digests[str(path)] = record["sha256"]
            if "diverged" in record:
                self._diverged[str(path)] = record["diverged"]

    def _explain(self, error: BaseException) -> bool:
        """Say what went wrong, in the log's last line too; True if words say it all."""
        match error:
            case FeatlearnError():
                words = str(error)
            case loops.Terminated():
                words = "ended by SIGTERM; started again, it goes on from its last checkpoint"
            case SystemExit():
                words = f"ended itself (exit status {error.code}) before its files were complete"
            case _:
                words = f"{type(error).__name__}: {error}"
                if isinstance(error, KeyError):
                    words += "; if it is a key of the config, its schema must name it"
        foreseen = isinstance(error, (FeatlearnError, SystemExit))
        line = f"error in rule {self.rule}: {words}"
        if self._log_file and not isinstance(error, FeatlearnError):
            # Python itself prints the traceback of an unforeseen error to the terminal
            with contextlib.suppress(OSError):
                traceback.print_exception(error, file=self._log_file)
                if not foreseen:
                    print(line, file=self._log_file)
        if foreseen:
            print(line, file=sys.stderr)
        return isinstance(error, FeatlearnError)

    def _guard_draws(self) -> None:
        """Note what the generators of the process are at, and have none made without a seed."""
        self._draws: dict[str, tuple[int, bytes]] = {}
        draws = self.params.get("exhibits")
        if draws or self.params.get("function"):
            import numpy

            random.seed(0)  # libraries use Python's, so that a draw from it is no fault
            if draws:  # seaborn moves it by drawings without jitter
                numpy.random.seed(0)  # noqa: NPY002
            self._draws = _global_draws()
            numpy.random.bit_generator.randbits = _refuse_entropy  # type: ignore[attr-defined]

    def _check_draws(self) -> None:
        """Refuse numbers that a generator of the whole process gave: no seed of ours is behind."""
        now = _global_draws() if self._draws else {}
        if self.params.get("exhibits"):
            now.pop("numpy", None)
        for name, (seed_now, state_now) in now.items():
            seed, state = self._draws.get(name, (seed_now, state_now))
            if seed == seed_now and state != state_now:
                raise FeatlearnError(f"{NO_STREAM} some of the global generator of {name}")

    def _commit(self) -> None:
        self._check_draws()
        for staged, final in zip(self.output, self._final, strict=True):
            if not staged.is_file():
                raise FeatlearnError(f"rule {self.rule} did not write {final}")
        contains = self.params.get("contains", "measured")
        each = [contains] * len(self._final) if isinstance(contains, str) else contains
        os.umask(mask := os.umask(0))
        for staged, final, contains in zip(self.output, self._final, each, strict=True):
            staged.chmod(0o666 & ~mask)  # safetensors writes files that only the owner reads
            with open(staged, "rb+") as file:
                os.fsync(file.fileno())
            final.parent.mkdir(parents=True, exist_ok=True)
            # record first: a kill in between leaves a mismatch, which is found and rebuilt
            record = self._record(staged, final, contains)
            provenance.share_record(record)
            provenance.write_record(self.results, final, record)
            os.replace(staged, final)
        shutil.rmtree(self._kept, ignore_errors=True)

    @cached_property
    def _seconds(self) -> float:
        """What the job took, the same in the record of each of its files."""
        return round(time.monotonic() - self._started, 3)

    def _record(self, staged: Path, final: Path, contains: str) -> dict[str, Any]:
        status = staged.stat()
        device = "cpu"
        if getattr(getattr(self, "device", None), "type", "cpu") == "cuda":
            import torch

            device = torch.cuda.get_device_name()
        return {
            **self._says,
            "artefact": str(final.relative_to(self.results)),
            "bytes": status.st_size,
            "mtime_ns": status.st_mtime_ns,
            "sha256": digest(staged),
            "rule": self.rule,
            "code": self.params.get("code"),
            "config": self.config,
            "seed": self.params.get("seed"),
            "contains": contains,
            "inputs": self.digests,
            **({"data": provenance.READ} if provenance.READ else {}),
            "threads": self.threads,
            "portable": self.portable,
            "commit": os.environ.get(VARIABLE, ""),
            "seconds": self._seconds,
            "peak_memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
            "versions": versions(),
            "machine": {"system": platform.platform(), "processor": processor(), "device": device},
        }


def _global_draws() -> dict[str, tuple[int, bytes]]:
    """States of the generators that loaded libraries share; not Python's, which libraries use."""
    states: dict[str, tuple[int, bytes]] = {}
    if numpy := sys.modules.get("numpy"):
        _, keys, place, *_ = numpy.random.get_state()
        states["numpy"] = (0, keys.tobytes() + bytes([place % 256]))
    if torch := sys.modules.get("torch"):
        own = torch.default_generator
        states["torch"] = own.initial_seed(), own.get_state().numpy().tobytes()
    return states


def _refuse_entropy(bits: int) -> int:
    """Refuse to seed a NumPy generator by chance; libraries that load, or seed it then, may."""
    frame: FrameType | None = sys._getframe(1)
    names = []
    while frame:
        names.append(str(frame.f_globals.get("__name__")))
        frame = frame.f_back
    if names[0].startswith(("scipy.", "sklearn.")) or "importlib._bootstrap" in names:
        return secrets.randbits(bits)
    raise FeatlearnError(f"{NO_STREAM} a generator without a seed in {names[0]}")


def read_frame(files: Sequence[Path]) -> Any:
    """Tidy frames below each other; of a YAML file (numbers that a paper prints) its content."""
    if files[0].suffix == ".yaml":
        from featlearn.core.run.config import read_yaml  # takes longer than most frames

        return read_yaml(files[0])
    if len(files) == 1:
        return read_parquet(files[0])
    import pandas as pd

    return pd.concat(map(read_parquet, files), ignore_index=True)


def versions() -> dict[str, str]:
    """Versions of Python, featlearn and the packages that results may depend on."""
    known = {"python": platform.python_version()}
    for package in ("featlearn", *REPORTED_PACKAGES):
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            # what is loaded says more: torch tells CPU and CUDA builds apart
            loaded = getattr(sys.modules.get(package), "__version__", None)
            known[package] = str(loaded or importlib.metadata.version(package))
    return known


def processor() -> str:
    """Name of the processor, as far as the system says."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
