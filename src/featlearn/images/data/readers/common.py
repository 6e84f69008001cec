"""What every reader hands on: a source, and one record an image after another."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from featlearn.core.errors import FeatlearnError
from featlearn.core.files import PathLike

NO_LABEL = -1


@dataclass(frozen=True)
class Object:
    """One object of a picture: its class and its box, in pixels of the file, half-open xyxy."""

    label: int
    box: tuple[float, float, float, float]
    difficult: bool = False


@dataclass(frozen=True)
class Record:
    """One image of a source, not decoded yet.

    ``name``: for messages; printable. ``data``: bytes or path of an image file, or pixels: uint8
    ``(h, w)`` or ``(h, w, 3)``. ``label``: class, ``NO_LABEL`` for none; or a row of 1 (there), 0
    (not there) and -1 (not to be judged), one a class. ``objects``: with boxes. ``fault``: why the
    record cannot be used, or empty.
    """

    name: str
    data: bytes | Path | NDArray[np.uint8]
    label: int | tuple[int, ...] = NO_LABEL
    objects: tuple[Object, ...] = ()
    fault: str = ""


@dataclass(frozen=True)
class Source:
    """A data set, or one split of it, as it lies on disk.

    ``what``: for messages. ``classes``: their names; empty if there are no labels. ``files``: all
    that it consists of. ``records``: iterates over the images, in an order that depends on the
    files alone. ``boxes``: whether the set has objects with boxes.
    """

    what: str
    classes: tuple[str, ...]
    files: tuple[Path, ...]
    records: Callable[[], Iterator[Record]] = field(repr=False)
    boxes: bool = False


Reader = Callable[[Mapping[str, Any], str], Source]


def shown(name: str | os.PathLike[str]) -> str:
    """A file name that is safe to print and to store: whatever cannot be printed is escaped."""
    text = os.fsencode(name).decode("utf-8", "backslashreplace")
    return "".join(letter if letter.isprintable() else letter.encode("unicode_escape").decode()
                   for letter in text)  # fmt: skip


def listed(path: Path, root: PathLike) -> list[Any]:
    """Name below ``root``, size and time of change of a file; of a dead link the name alone."""
    name = os.fsencode(os.path.relpath(path, root)).hex()
    try:
        state = path.stat()
    except OSError:  # a fault that the reader tells
        return [name]
    return [name, state.st_size, state.st_mtime_ns]


def read_words(path: Path) -> str:
    """The text of a list that comes with a data set. Raises FeatlearnError if it is no text."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise FeatlearnError(f"{shown(path)}: cannot be read as text: {error}") from error
    if "\0" in text:
        raise FeatlearnError(f"{shown(path)}: holds a NUL; expected text")
    return text


def existing(candidates: list[Path], what: str, advice: str) -> Path:
    """The first candidate that is there; otherwise an error that says which file goes where."""
    for path in candidates:
        if path.exists():
            return path
    raise FeatlearnError(f"{what}: expected {shown(candidates[0])}; {advice}")


def unknown_split(kind: str, split: str, known: list[str]) -> FeatlearnError:
    return FeatlearnError(f"{kind}: no split {split!r}; expected one of {', '.join(known)}")
