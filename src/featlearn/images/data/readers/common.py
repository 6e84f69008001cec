"""What every reader of a data set hands on: a source, and one record an image.

A reader looks at files and says what is there; it decodes nothing. So that a set larger than
memory can be read, records come one after another.
"""

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

    ``name``: what messages call it; printable. ``data``: the bytes of an image file, the path of
    one, or pixels: uint8 ``(h, w)`` or ``(h, w, 3)``. ``label``: index of the class, ``NO_LABEL``
    for none; or a row of 1 (there), 0 (not there) and -1 (not to be judged), one a class, where an
    image may show several. ``objects``: objects with boxes; empty where the set has none.
    ``fault``: why the record cannot be used, e.g. an impossible label; empty if it can.
    """

    name: str
    data: bytes | Path | NDArray[np.uint8]
    label: int | tuple[int, ...] = NO_LABEL
    objects: tuple[Object, ...] = ()
    fault: str = ""


@dataclass(frozen=True)
class Source:
    """A data set, or one split of it, as it lies on disk.

    ``what``: what messages call it. ``classes``: names of the classes, printable; empty if there
    are no labels. ``files``: every file that it consists of: what a cache of it depends on.
    ``records``: iterates over the images, in an order that depends on the files alone. ``boxes``:
    whether the set has objects with boxes (a picture may still have none).
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
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode()
        for letter in text
    )


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
    """The error about a split that the data set does not have."""
    return FeatlearnError(f"{kind}: no split {split!r}; expected one of {', '.join(known)}")
