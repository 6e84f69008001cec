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
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from featlearn.core.errors import FeatlearnError
from featlearn.core.files import digest, read_tensors, write_atomically, write_tensors

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

    Parameters
    ----------
    folder
        Is made if need be.
    identity
        All that the run's numbers depend on, as plain JSON values. A checkpoint of another
        identity is never resumed.
    """

    def __init__(self, folder: str | os.PathLike[str], identity: Mapping[str, Any]):
        self.folder = Path(folder)
        self.identity = json.loads(_canonical(identity))
        self.run = hashlib.sha256(_canonical(identity).encode()).hexdigest()[:16]

    def save(self, checkpoint: Checkpoint) -> None:
        """Write ``checkpoint``; then remove all but the last ``KEPT`` of this run.

        Raises
        ------
        FeatlearnError
            If it cannot be written; those before it stay.
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
            _flush_folder(self.folder)
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
            found = _read(path)
            if isinstance(found, Checkpoint):
                return found
            _say(f"checkpoint {path} is skipped: {found}")
        self._explain_others()
        return None

    def _own(self) -> list[Path]:
        """Records of this run, the newest first."""
        return sorted(self.folder.glob(f"{self.run}-*.json"), reverse=True)

    def _explain_others(self) -> None:
        others = sorted(self.folder.glob("*-*.json"), key=lambda path: path.stat().st_mtime_ns)
        others = [path for path in others if not path.name.startswith(self.run)]
        if not others:
            return
        try:
            theirs = json.loads(others[-1].read_bytes())["identity"]
            changed = ", ".join(_differences(theirs, self.identity))
        except (OSError, ValueError, KeyError, AttributeError):
            changed = "cannot be read"
        _say(
            f"checkpoints in {self.folder} belong to another run ({changed}); "
            "the training starts anew and leaves them alone"
        )


def state_digest(tensors: Mapping[str, Tensor]) -> str:
    """SHA-256 of named tensors: names, kinds, shapes and numbers."""
    found = hashlib.sha256()
    for name, tensor in tensors.items():
        found.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        found.update(tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().data)
    return found.hexdigest()


# --------------------------------------------------------------------------- parts


def _canonical(value: Mapping[str, Any]) -> str:
    return json.dumps(value, sort_keys=True, default=str)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _write_whole(tensors: Mapping[str, Tensor], path: Path) -> None:
    staged = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        write_tensors(_unshared(tensors), staged)
        with open(staged, "rb+") as file:
            os.fsync(file.fileno())
        os.replace(staged, path)
    finally:
        staged.unlink(missing_ok=True)


def _unshared(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The same numbers, each name with memory of its own (tied weights share theirs)."""
    seen: set[int] = set()
    own = {}
    for name, tensor in tensors.items():
        place = tensor.untyped_storage().data_ptr()
        own[name] = tensor.clone() if place in seen else tensor
        seen.add(place)
    return own


def _flush_folder(folder: Path) -> None:
    """Make the new names in ``folder`` survive a power cut."""
    handle = os.open(folder, os.O_RDONLY)
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
        found = read_tensors(path)
        # a copy lies in memory as a loop's own tensors do: what is read lies as in the file, and a
        # matrix product may follow that in its last digits
        tensors = {name: found[name].clone() for name in known["names"]}
        return Checkpoint(known["step"], tensors, known["plain"])
    except (OSError, ValueError, KeyError, TypeError, FeatlearnError) as error:
        return f"{type(error).__name__}: {error}"


def _differences(
    theirs: Mapping[str, Any], ours: Mapping[str, Any], within: str = ""
) -> Iterator[str]:
    """``learning_rate: 0.1, now 0.2`` for each value that differs."""
    for key in sorted({*theirs, *ours}):
        old, new = theirs.get(key), ours.get(key)
        if isinstance(old, dict) and isinstance(new, dict):
            yield from _differences(old, new, f"{within}{key}.")
        elif old != new:
            yield f"{within}{key}: {old}, now {new}"
