"""Which GPU of a machine a process computes on: one that no other job of this user is at.

Snakemake counts GPUs and does not say which; a scheduler shows a job its own ones only. The first
GPU that nobody holds is taken, by a lock on a file that the system frees when the process ends.
"""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    import torch

_held: list[TextIO] = []


def take(names: Sequence[str], otherwise: int = 0, folder: Path | None = None) -> int:
    """Index of the first of ``names`` that no process holds; it is held from now on.

    Parameters
    ----------
    names
        Of the GPUs that this process sees, each unique on the machine.
    otherwise
        Modulo the number of GPUs, the answer if all of them are held: jobs then share.
    folder
        Where the locks are.
    """
    folder = folder or Path(tempfile.gettempdir()) / f"featlearn-gpus-{os.getuid()}"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for index, name in enumerate(names):
        lock = open(folder / name, "w", encoding="utf-8")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            lock.close()
            continue
        _held.append(lock)
        return index
    return otherwise % len(names)


def release() -> None:
    """Give back what this process holds, for the processes that it starts."""
    while _held:
        _held.pop().close()


def free_device(otherwise: int = 0) -> torch.device:
    """A free GPU as torch's current device; see :func:`take`."""
    import torch

    count = torch.cuda.device_count()
    if count < 2:
        return torch.device("cuda")
    names = [str(torch.cuda.get_device_properties(index).uuid) for index in range(count)]
    device = torch.device("cuda", take(names, otherwise))
    torch.cuda.set_device(device)
    return device
