"""Training loops that are killed and go on: the theory papers' counterpart of ``images.loop``.

A loop reads::

    with Loop("pre-training", {"w": w, "x": x}) as loop:
        if saved := loop.latest():
            step, w = saved.step, saved.tensors["w"]
        while step < steps:
            w = next(w)
            step += 1
            loop.after(step, lambda: ({"w": w}, {}))

Within a job (:mod:`featlearn.core.job`) its state is kept every so many seconds and when SIGTERM
comes. Elsewhere, in a test or a notebook, it is never written and a signal ends it at once.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor

from featlearn.core.checkpoint import Checkpoint, Checkpoints, state_digest
from featlearn.core.interruption import Listening, next_place

#: Tensors by name, and plain JSON values.
State = tuple[Mapping[str, Tensor], Mapping[str, Any]]


class Loop:
    """The checkpoints of one loop; a context around all of its steps.

    Parameters
    ----------
    label
        What messages call the loop.
    start
        Tensors that the loop starts from: a loop with another start is another loop.
    settings
        What else its numbers depend on beside the job's config, code, seed and inputs.
    """

    def __init__(self, label: str, start: Mapping[str, Tensor], **settings: Any):
        self.label, self._kept = label, None
        found = next_place()
        if found is not None:
            folder, self._every = found
            devices = sorted({tensor.device.type for tensor in start.values()})
            identity = {
                "label": label,
                "start": state_digest(start),
                "settings": settings,
                "devices": devices,
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
        """The state to go on from, tensors on the CPU; None to start anew."""
        found = None if self._kept is None else self._kept.latest()
        if found is not None:
            print(f"{self.label} goes on after step {found.step}", file=sys.stderr, flush=True)
        return found

    def after(self, step: int, state: Callable[[], State]) -> None:
        """To be called when ``step`` steps are done; keeps ``state()`` if that is due.

        Raises
        ------
        Terminated
            After it has kept the state, if SIGTERM has come.
        FeatlearnError
            If the state cannot be written.
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
