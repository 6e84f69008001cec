"""A job of many trainings, one after another, as one loop that can be interrupted.

With a loop for each, two checkpoints of every training would lie on the disk until the job ends,
and a job that goes on would look again at all that had ended. Here what has ended is kept as rows,
and tensors of the training under way alone::

    with Loop("pictures", start) as loop:
        pieces = Pieces(loop)
        for name in names:
            rows[name] = pieces.once(name, lambda: look(train(name, pieces)))
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar, cast

from featlearn.core.checkpoint import Checkpoint
from featlearn.core.loops import Loop, State

T = TypeVar("T")


class Keeper(Protocol):
    """What a training asks of the loop around its steps: :class:`Loop`, or :class:`Pieces`."""

    def latest(self) -> Checkpoint | None:
        """The state to go on from; None to start anew."""

    def after(self, step: int, state: Callable[[], State]) -> None:
        """To be called when ``step`` steps are done."""


class Pieces:
    """Pieces of work in the order of their names, each with one training at most.

    Parameters
    ----------
    loop
        Around all of them. Its steps are those of all trainings, and one more at each piece's end.
    """

    def __init__(self, loop: Loop):
        self._loop, saved = loop, loop.latest()
        self._step = saved.step if saved else 0
        self._began: int = saved.plain["began"] if saved else 0
        self._ended: dict[str, Any] = saved.plain["ended"] if saved else {}
        self._saved = saved if saved and saved.plain["training"] is not None else None

    def once(self, name: str, work: Callable[[], T]) -> T:
        """What ``work`` gives, made of plain JSON values; where the piece had ended, what it gave.

        Parameters
        ----------
        name
            Of the piece; another for each.
        """
        if name not in self._ended:
            self._ended[name] = work()
            self._began = self._step = self._step + 1
            self._loop.after(self._step, lambda: ({}, self._told(None)))
        return cast(T, self._ended[name])

    def latest(self) -> Checkpoint | None:
        """The state that the training of this piece goes on from; None to start anew."""
        found, self._saved = self._saved, None  # those of the pieces to come have none
        if found is None:
            return None
        return Checkpoint(found.step - self._began, found.tensors, found.plain["training"])

    def after(self, step: int, state: Callable[[], State]) -> None:
        """To be called when ``step`` steps of the piece's training are done."""
        self._step = self._began + step

        def whole() -> State:
            tensors, plain = state()
            return tensors, self._told(plain)

        self._loop.after(self._step, whole)

    def _told(self, training: Any) -> dict[str, Any]:
        return {"began": self._began, "ended": self._ended, "training": training}
