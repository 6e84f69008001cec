"""A cache between plans of what follows from files alone: a plan takes 2.4 s with it, 4 without."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from featlearn.core.files import digest, write_atomically

#: Part of each key; raised when the same bytes would give other notes.
VERSION = f"2-{sys.version_info.major}.{sys.version_info.minor}"
#: Letters beyond which only what this plan used is kept.
MOST = 8_000_000
SOURCES = Path(__file__).resolve().parents[2]

Value = TypeVar("Value")

_file: Path | None = None
_known: dict[str, str] = {}
_used: dict[str, str] = {}


def open_notes(file: Path) -> None:
    """Take over what earlier plans left in ``file``; notes are kept from now on."""
    global _file
    _file = file
    _known.clear()
    _used.clear()
    with contextlib.suppress(OSError, ValueError):
        notes = json.loads(file.read_bytes())
        if isinstance(notes, dict) and all(isinstance(text, str) for text in notes.values()):
            _known.update(notes)


def keep_notes() -> None:
    """Leave the notes for the next plan, if they can be written."""
    if _file is not None and not _used.keys() <= _known.keys():
        text = json.dumps(_known | _used)
        with contextlib.suppress(OSError):
            write_atomically(_file, (text if len(text) <= MOST else json.dumps(_used)).encode())


def noted(key: str, compute: Callable[[], Any]) -> Any:
    """What ``compute`` gives, or gave to an earlier plan under the key, where JSON can hold it."""
    if _file is None:
        return compute()
    key = f"{VERSION} {key}"
    text = _used.get(key) or _known.get(key)
    if text is not None:
        with contextlib.suppress(ValueError):
            value = json.loads(text)
            _used[key] = text
            return value
    value = compute()
    with contextlib.suppress(TypeError, ValueError):
        text = json.dumps(value)
        if repr(json.loads(text)) == repr(value):
            _used[key] = text
    return value


def by_sources(function: Callable[..., Value]) -> Callable[..., Value]:
    """Note what a function of names gives that follows from the sources alone."""

    @functools.wraps(function)
    def noting(*names: Any) -> Value:
        key = f"{function.__name__} {of_sources()} {names}"
        value: Value = noted(key, lambda: function(*names))
        return value

    return noting


def of_sources() -> str:
    """Digest of every module of featlearn with its place: what a note on several of them needs."""
    return _of_sources() if _file is not None else ""


@functools.cache
def _of_sources() -> str:
    return of_files(tuple(sorted(SOURCES.rglob("*.py"))), SOURCES)


def of_files(files: tuple[Path, ...], root: Path) -> str:
    """Digest of bytes and names, seen from ``root``, of some files: a moved folder has the same."""
    lines = [f"{os.path.relpath(file, root)} {digest(file)}" for file in files]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()
