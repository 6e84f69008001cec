"""Checkpoints of a training: whole or not at all, and only for the run that wrote them.

A checkpoint is two files: ``<run>-<step>.safetensors`` with all tensors and, written after it,
``<run>-<step>.json`` with its checksum and what the run depends on. ``<run>`` is a hash of the
latter, so runs with other settings neither read nor overwrite each other's. No pickle is involved.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from featlearn.core.errors import FeatlearnError
from featlearn.core.files import digest, read_tensors, write_atomically, write_tensors

if TYPE_CHECKING:
    from torch import Tensor

#: How many checkpoints of a run are kept: the last good one stays if the newest is torn.
KEPT = 2


@dataclass(frozen=True)
class Checkpoint:
    """State of a training after ``step`` steps: CPU tensors by name, and plain values."""

    step: int
    tensors: dict[str, Tensor]
    plain: dict[str, Any]


class Checkpoints:
    """The checkpoints of one run in a folder.

    ``folder``: is made if need be. ``identity``: all that the run's numbers depend on, as plain
    JSON values. A checkpoint of another identity is never resumed.
    """

    def __init__(self, folder: str | os.PathLike[str], identity: Mapping[str, Any]):
        self.folder = Path(folder)
        self.identity = json.loads(_canonical(identity))
        self.run = hashlib.sha256(_canonical(identity).encode()).hexdigest()[:16]

    def save(self, checkpoint: Checkpoint) -> None:
        """Write ``checkpoint``; then remove all but the last ``KEPT`` of this run.

        Raises FeatlearnError if it cannot be written; those before it stay.
        """
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
        """The newest checkpoint of this run that is whole; None if there is none.

        What is torn, or of a run with other settings, is named on standard error.
        """
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


# --------------------------------------------------------------------------- parts


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
