"""What a job gives its loops so that they can be interrupted: a folder each, and SIGTERM as a word.

Imports nothing heavy: :class:`featlearn.core.job.Job` uses it in every script. The loops themselves
use :mod:`featlearn.core.loops`.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

#: Exit status of a job that was told to end: what a shell gives for SIGTERM. A scheduler that
#: repeats failed jobs starts it again.
TERMINATED = 128 + signal.SIGTERM


class Terminated(SystemExit):
    """A job was told to end and ends, with the status :data:`TERMINATED`."""

    def __init__(self) -> None:
        super().__init__(TERMINATED)


@dataclass
class Offer:
    """Where the loops of the running job may keep what they can go on from.

    Attributes
    ----------
    folder
        Gives the job's folder, which is made when it is first asked for.
    seconds
        Time between two checkpoints. A loop that takes less writes none.
    given
        Loops that have come so far. A job runs the same loops in the same order each time, so the
        number is a name.
    """

    folder: Callable[[], Path]
    seconds: float
    given: int = 0


_current: Offer | None = None


def offer(folder: Callable[[], Path], seconds: float) -> None:
    """From now on loops may be kept below ``folder()``."""
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
    """Turns SIGTERM into a word that a loop reads between two steps.

    Parameters
    ----------
    listens
        False leaves the signal alone, as does any thread but the main one.
    """

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
        """End as the job's own handler, put back in its place, ends a job."""
        self.__exit__()
        signal.raise_signal(signal.SIGTERM)
        raise Terminated

    def _note(self, _: int, __: FrameType | None) -> None:
        self.told = True
