"""What one plan found out by reading files, for the next: a run with nothing to do says so faster.

A note is kept under a key that holds the digest of all bytes that it follows from, so it is never
stale: other bytes are another key. Where no plan opened a file of notes nothing is kept.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from featlearn.core.files import digest, write_atomically

#: Part of each key; raised when the same bytes would give other notes.
VERSION = f"2-{sys.version_info.major}.{sys.version_info.minor}"
#: Letters beyond which only what this plan used is kept for the next.
MOST = 8_000_000
SOURCES = Path(__file__).resolve().parents[1]

_file: Path | None = None
_known: dict[str, str] = {}
_used: dict[str, str] = {}
_is_new = False


def open_notes(file: Path) -> None:
    """Take over what earlier plans left in ``file``; notes are kept from now on."""
    global _file, _is_new
    _file, _is_new = file, False
    _known.clear()
    _used.clear()
    # there are none, or not ours: found out anew
    with contextlib.suppress(OSError, ValueError):
        found = json.loads(file.read_bytes())
        if isinstance(found, dict) and all(isinstance(text, str) for text in found.values()):
            _known.update(found)


def keep_notes() -> None:
    """Leave what was found out for the next plan, if that can be written."""
    if _file is None or not _is_new:
        return
    text = json.dumps(_known | _used)
    if len(text) > MOST:
        text = json.dumps(_used)
    with contextlib.suppress(OSError):
        write_atomically(_file, text.encode())


def noted(key: str, find_out: Callable[[], Any]) -> Any:
    """What ``find_out`` gives, or gave to an earlier plan under the same key.

    Values that JSON does not give back as they are, and errors, are found out each time.
    """
    global _is_new
    if _file is None:
        return find_out()
    key = f"{VERSION} {key}"
    text = _used.get(key) or _known.get(key)
    if text is not None:
        with contextlib.suppress(ValueError):
            value = json.loads(text)
            _used[key] = text
            return value
    value = find_out()
    with contextlib.suppress(TypeError, ValueError):
        text = json.dumps(value)
        if repr(json.loads(text)) == repr(value):
            _used[key], _is_new = text, True
    return value


def of_sources() -> str:
    """Digest of every module of featlearn with its place: what a note on several of them needs."""
    return _of_sources() if _file is not None else ""


@functools.cache
def _of_sources() -> str:
    found = (
        Path(folder, name)
        for folder, _, names in os.walk(SOURCES)
        for name in names
        if name.endswith(".py")
    )
    return of_files(tuple(sorted(found)), SOURCES)


def of_files(files: tuple[Path, ...], root: Path) -> str:
    """Digest of bytes and names, seen from ``root``, of some files: a moved folder has the same."""
    lines = [f"{os.path.relpath(file, root)} {digest(file)}" for file in files]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()
