"""Training loops that are killed and resumed, within a job; the images' loop uses the parts.

A loop reads::

    with Loop("pre-training", {"w": w, "x": x}) as loop:
        if saved := loop.latest():
            step, w = saved.step, saved.tensors["w"]
        while step < steps:
            w = next(w)
            step += 1
            loop.after(step, lambda: ({"w": w}, {}))

Within a job (:mod:`featlearn.core.job`) its state is kept every so many seconds and on SIGTERM;
elsewhere never. A job of many trainings is one loop of :class:`Pieces`, which keeps results of
ended trainings as rows and tensors of the current one::

    with Loop("pictures", start) as loop:
        pieces = Pieces(loop)
        for name in names:
            rows[name] = pieces.once(name, lambda: evaluate(train(name, pieces)))

Imports nothing heavy: every job imports it before its threads are set.
"""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

from featlearn.core.checkpoint import Checkpoint, Checkpoints, state_digest

if TYPE_CHECKING:
    from torch import Tensor

T = TypeVar("T")
#: Tensors by name, and plain JSON values.
State = tuple[Mapping[str, "Tensor"], Mapping[str, Any]]
#: Exit status of a job that SIGTERM ended, as in a shell; a scheduler with retries restarts it.
TERMINATED = 128 + signal.SIGTERM


class Terminated(SystemExit):
    """SIGTERM ended the job, with the status :data:`TERMINATED`."""

    def __init__(self) -> None:
        super().__init__(TERMINATED)


# --------------------------------------------------------------------------- of a job


@dataclass
class Offer:
    """Where the loops of the running job may keep their checkpoints.

    ``folder``: gives the job's folder, which is made at the first call. ``seconds``: time between
    two checkpoints. A shorter loop writes none. ``given``: loops so far. A job runs the same loops
    in the same order each time: the number is a name.
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


# --------------------------------------------------------------------------- loops


class Keeper(Protocol):
    """What a training uses of the loop around its steps: :class:`Loop`, or :class:`Pieces`."""

    def latest(self) -> Checkpoint | None:
        """The state to resume from; None to start at step 0."""

    def after(self, step: int, state: Callable[[], State]) -> None:
        """To be called when ``step`` steps are done."""


class Loop:
    """The checkpoints of one loop; a context around all of its steps.

    ``label``: name of the loop in messages. ``start``: tensors that the loop starts from: a loop
    with another start is another loop. ``settings``: what else its numbers depend on beside the
    job's config, code, seed and inputs.
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
        """To be called when ``step`` steps are done; keeps ``state()`` if that is due.

        Raises Terminated after it has kept the state, if SIGTERM has come. Raises FeatlearnError
        if the state cannot be written.
        """
        if self._kept is None:
            return
        told = self._listening.told
        if told or time.monotonic() - self._saved >= self._every:
            tensors, plain = state()
            self._kept.save(Checkpoint(step, dict(tensors), dict(plain)))
            self._saved = time.monotonic()
        if told:
            self._listening.leave()


class Pieces:
    """Pieces of work in the order of their names, each with one training at most.

    ``loop``: around all of them. Its steps are those of all trainings, and one more at each piece's
    end.
    """

    def __init__(self, loop: Loop):
        self._loop, saved = loop, loop.latest()
        self._step = saved.step if saved else 0
        self._began: int = saved.plain["began"] if saved else 0
        self._ended: dict[str, Any] = saved.plain["ended"] if saved else {}
        self._saved = saved if saved and saved.plain["training"] is not None else None

    def once(self, name: str, work: Callable[[], T]) -> T:
        """What ``work`` gives, as plain JSON values, or gave before under this unique ``name``."""
        if name not in self._ended:
            self._ended[name] = work()
            self._began = self._step = self._step + 1
            self._loop.after(self._step, lambda: ({}, self._plain(None)))
        return cast(T, self._ended[name])

    def latest(self) -> Checkpoint | None:
        """The state that the training of this piece resumes from; None to start at step 0."""
        saved, self._saved = self._saved, None  # those of the pieces to come have none
        if saved is None:
            return None
        return Checkpoint(saved.step - self._began, saved.tensors, saved.plain["training"])

    def after(self, step: int, state: Callable[[], State]) -> None:
        """To be called when ``step`` steps of the piece's training are done."""
        self._step = self._began + step

        def whole() -> State:
            tensors, plain = state()
            return tensors, self._plain(plain)

        self._loop.after(self._step, whole)

    def _plain(self, training: Any) -> dict[str, Any]:
        return {"began": self._began, "ended": self._ended, "training": training}
