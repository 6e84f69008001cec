"""Training loops that are killed and resumed, within a job; the images' loop uses the parts.

A loop reads::

    with Loop("pre-training", {"w": w, "x": x}) as loop:
        if saved := loop.latest():
            step, w = saved.step, saved.tensors["w"]
        while step < steps:
            step, w = step + 1, next(w)
            loop.after(step, lambda: ({"w": w}, {}))

Within a job (:mod:`featlearn.core.run.job`) its state is kept every so many seconds and on SIGTERM;
elsewhere never. Imports nothing heavy: every job imports it before its threads are set.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, TypeVar

from featlearn.core.errors import DivergedError, FeatlearnError
from featlearn.core.files import digest, read_tensors, write_atomically, write_tensors

if TYPE_CHECKING:
    from torch import Tensor

T = TypeVar("T")
#: Tensors by name, and plain JSON values.
State = tuple[Mapping[str, "Tensor"], Mapping[str, Any]]
#: Exit status of a job that SIGTERM ended, as in a shell; a scheduler with retries restarts it.
TERMINATED = 128 + signal.SIGTERM
#: How many checkpoints of a run are kept: the last good one stays if the newest is torn.
KEPT = 2


class Terminated(SystemExit):
    """SIGTERM ended the job, with the status :data:`TERMINATED`."""

    def __init__(self) -> None:
        super().__init__(TERMINATED)


@dataclass
class Offer:
    """Where the loops of the running job may keep their checkpoints.

    ``folder``: gives the job's. ``seconds``: between two. ``given``: loops so far, in fixed order.
    """

    folder: Callable[[], Path]
    seconds: float
    given: int = 0


_current: Offer | None = None


def offer(folder: Callable[[], Path], seconds: float) -> None:
    """From now on loops keep checkpoints below ``folder()``."""
    global _current
    _current = Offer(folder, seconds)


def withdraw() -> None:
    """From now on loops keep nothing."""
    global _current
    _current = None


def next_place() -> tuple[Path, float] | None:
    """Folder of the next loop, and the seconds between two checkpoints; None outside of a job."""
    if _current is None:
        return None
    _current.given += 1
    return _current.folder() / f"loop-{_current.given}", _current.seconds


class Listening:
    """Notes SIGTERM in ``told``, unless ``listens`` is False or the thread is not the main one."""

    def __init__(self, listens: bool = True) -> None:
        self.listens, self.told = listens, False
        self._handler: Any = None

    def __enter__(self) -> Listening:
        if self.listens and threading.current_thread() is threading.main_thread():
            self._handler = signal.signal(signal.SIGTERM, self._note)
        return self

    def __exit__(self, *_: object) -> None:
        if self._handler is not None:
            signal.signal(signal.SIGTERM, self._handler)
            self._handler = None

    def leave(self) -> None:
        """End with the job's handler of SIGTERM, which is back in its place."""
        self.__exit__()
        signal.raise_signal(signal.SIGTERM)
        raise Terminated

    def _note(self, _: int, __: FrameType | None) -> None:
        self.told = True


class Loop:
    """The checkpoints of one loop; a context around all of its steps.

    ``label``: for messages. ``start``: tensors that it starts from; with others it is another loop.
    ``settings``: what its numbers depend on beside the job's config, code, seed and inputs.
    """

    def __init__(self, label: str, start: Mapping[str, Tensor], **settings: Any):
        self.label, self._kept = label, None
        if place := next_place():
            import torch

            folder, self._every = place
            identity = {
                "label": label,
                "start": state_digest(start),
                "settings": settings,
                "devices": sorted({tensor.device.type for tensor in start.values()}),
                "threads": torch.get_num_threads(),
                "torch": torch.__version__,
            }
            self._kept = Checkpoints(folder, identity)
        self._listening = Listening(listens=self._kept is not None)
        self._saved = time.monotonic()

    def __enter__(self) -> Loop:
        self._listening.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._listening.__exit__()

    def latest(self) -> Checkpoint | None:
        """The state to resume from, tensors on the CPU; None to start at step 0."""
        saved = None if self._kept is None else self._kept.latest()
        if saved is not None:
            print(f"{self.label} goes on after step {saved.step}", file=sys.stderr, flush=True)
        return saved

    def after(self, step: int, state: Callable[[], State]) -> None:
        """To be called after ``step`` steps; keeps ``state()`` if due; Terminated on SIGTERM."""
        if self._kept is None:
            return
        told = self._listening.told
        if told or time.monotonic() - self._saved >= self._every:
            tensors, plain = state()
            self._kept.save(Checkpoint(step, dict(tensors), dict(plain)))
            self._saved = time.monotonic()
        if told:
            self._listening.leave()


def followed(
    label: str, parts: Mapping[str, Tensor], weights: Collection[str], batches: Iterable[T],
    take: Callable[[int, T], None], see: Callable[[int], Tensor | None], *, start: bool = False,
    enough: Callable[[Mapping[int, Tensor]], bool] = lambda _: False, **settings: Any,
) -> dict[int, Tensor]:  # fmt: skip
    """Take a step with each of the ``batches``; a :class:`Loop` that goes on where it was killed.

    ``label``, ``settings``: as of :class:`Loop`. ``parts``: what the next step depends on, which
    ``take`` changes in place, given the number of the step, from 1, and its batch; ``weights``:
    those that must not overflow. ``see``: called after each step and, with ``start``, before the
    first (0). ``enough``: asked of all that was seen whether to end. Returns what ``see`` returned,
    by step. Raises DivergedError if a weight overflows.
    """
    done, seen = 0, dict[int, Any]()

    def state() -> State:
        return {**parts, **{f"seen/{at}": own for at, own in seen.items()}}, {"seen": list(seen)}

    def look(step: int) -> None:
        if (found := see(step)) is not None:
            seen[step] = found
            if not all(bool(parts[name].isfinite().all()) for name in weights):
                raise DivergedError(f"{label}, step {step}: overflow; lower the learning rate")

    with Loop(label, parts, **settings) as loop:
        if saved := loop.latest():
            done = saved.step
            for name, own in parts.items():
                own.copy_(saved.tensors[name])
            seen |= {at: saved.tensors[f"seen/{at}"] for at in saved.plain["seen"]}
        elif start:
            look(0)
        for step, batch in enumerate(batches, 1):
            if step > done:
                take(step, batch)
                look(step)
                if step in seen and enough(seen):
                    break
                loop.after(step, state)
    return seen


# Checkpoints, whole or not at all: ``<run>-<step>.safetensors`` and, written after it,
# ``<run>-<step>.json`` with its checksum and what the run depends on. ``<run>`` is a hash of the
# latter, so that runs with other settings neither read nor overwrite each other's.


@dataclass(frozen=True)
class Checkpoint:
    """State of a training after ``step`` steps: CPU tensors by name, and plain values."""

    step: int
    tensors: dict[str, Tensor]
    plain: dict[str, Any]


class Checkpoints:
    """Checkpoints of one run in a folder; ``identity``: what its numbers depend on, in JSON."""

    def __init__(self, folder: str | os.PathLike[str], identity: Mapping[str, Any]):
        self.folder = Path(folder)
        self.identity = json.loads(_canonical(identity))
        self.run = hashlib.sha256(_canonical(identity).encode()).hexdigest()[:16]

    def save(self, checkpoint: Checkpoint) -> None:
        """Write a checkpoint, or raise FeatlearnError; keep the last ``KEPT`` of this run."""
        path = self.folder / f"{self.run}-{checkpoint.step:09d}.safetensors"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            _write_whole(checkpoint.tensors, path)
            record = {
                "step": checkpoint.step,
                "sha256": digest(path),
                "plain": checkpoint.plain,
                "names": list(checkpoint.tensors),
                "identity": self.identity,
            }
            write_atomically(path.with_suffix(".json"), json.dumps(record, indent=1).encode())
            _flush(self.folder)
        except Exception as error:
            raise FeatlearnError(
                f"{path}: the checkpoint cannot be written ({error}); see to free space and "
                "write access there. Started again, the training goes on from the one before."
            ) from error
        for old in self._own()[KEPT:]:
            old.unlink(missing_ok=True)
            old.with_suffix(".safetensors").unlink(missing_ok=True)
        for left in self.folder.glob(f".{self.run}-*"):  # by a process that was killed
            left.unlink(missing_ok=True)

    def latest(self) -> Checkpoint | None:
        """The newest whole checkpoint of this run, if there is one; what is skipped is told."""
        for path in self._own():
            result = _read(path)
            if isinstance(result, Checkpoint):
                return result
            print(f"checkpoint {path} is skipped: {result}", file=sys.stderr, flush=True)
        others = {path.name.partition("-")[0] for path in self.folder.glob("*-*.json")} - {self.run}
        if others:
            print(
                f"checkpoints in {self.folder} belong to trainings with other settings, inputs or "
                "versions; this one starts at step 0 and leaves them alone",
                file=sys.stderr,
                flush=True,
            )
        return None

    def _own(self) -> list[Path]:
        """Records of this run, the newest first."""
        return sorted(self.folder.glob(f"{self.run}-*.json"), reverse=True)


def state_digest(tensors: Mapping[str, Tensor]) -> str:
    """SHA-256 of named tensors: names, kinds, shapes and numbers."""
    import torch

    total = hashlib.sha256()
    for name, tensor in tensors.items():
        total.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        total.update(tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().data)
    return total.hexdigest()


def _canonical(value: Mapping[str, Any]) -> str:
    return json.dumps(value, sort_keys=True, default=str)


def _write_whole(tensors: Mapping[str, Tensor], path: Path) -> None:
    """Write the file or none; each name has memory of its own (tied weights share theirs)."""
    staged = path.with_name(f".{path.name}.{os.getpid()}")
    places: set[int] = set()
    unshared = {}
    for name, tensor in tensors.items():
        place = tensor.untyped_storage().data_ptr()
        unshared[name] = tensor.clone() if place in places else tensor
        places.add(place)
    try:
        write_tensors(unshared, staged)
        _flush(staged, os.O_RDWR)
        os.replace(staged, path)
    finally:
        staged.unlink(missing_ok=True)


def _flush(path: Path, mode: int = os.O_RDONLY) -> None:
    """Make a file, or new names in a folder, survive a power cut."""
    handle = os.open(path, mode)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _read(record: Path) -> Checkpoint | str:
    """The checkpoint of ``record``, or what is wrong with it."""
    path = record.with_suffix(".safetensors")
    try:
        known = json.loads(record.read_bytes())
        if digest(path) != known["sha256"]:
            return "its bytes are not those that were written"
        # the file sorts them; rows of a table may follow the order in which they were given
        saved = read_tensors(path)
        # a copy lies in memory as a loop's own tensors do: what is read lies as in the file, and a
        # matrix product may follow that in its last digits
        tensors = {name: saved[name].clone() for name in known["names"]}
        return Checkpoint(known["step"], tensors, known["plain"])
    except (OSError, ValueError, KeyError, TypeError, FeatlearnError) as error:
        return f"{type(error).__name__}: {error}"
