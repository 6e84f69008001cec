"""Faults of the machine in words: what happened to which file, and what to do.

A full disk, a folder that may not be written or is gone, and memory that does not suffice reach a
script as errors of many libraries. Here they become one sentence; what none of this explains stays
a traceback.
"""

from __future__ import annotations

import errno
import os
import re
import resource
import shutil
from collections.abc import Iterator
from pathlib import Path

#: What libraries write that do not raise an OSError with a number: "(os error 28)", "[Errno 28]".
NUMBER = re.compile(r"(?:os error|Errno) (\d+)")
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
CLOSED = (errno.EROFS, errno.EACCES, errno.EPERM)
BROKEN = (errno.EIO, errno.ESTALE, errno.ENODEV, errno.ENXIO, errno.ENOTCONN)
MEMORY = ("can't allocate memory", "not enough memory", "out of memory", "cannot allocate memory")
AGAIN = "The same command again goes on from what is finished."


def explain(error: BaseException, written: str, staging: Path | None = None) -> str | None:
    """What a fault of the machine means to a user; None if ``error`` is none.

    Parameters
    ----------
    error
        With the errors that it came from.
    written
        What the job was to write: named where the error knows no file.
    staging
        Folder that the job made for its outputs.
    """
    chain = list(_chain(error))
    if any(_is_memory(each) for each in chain):
        return _memory()
    for each in chain:
        number, file = _number(each), _file(each) or written
        if number in FULL:
            return _full(file, number)
        if number in CLOSED:
            return (
                f"{file}: {os.strerror(number).lower()}. Give this user access to it, or run in a "
                f"folder that may be written (--directory). {AGAIN}"
            )
        if number in BROKEN:
            return f"{file}: the disk does not answer ({os.strerror(number)}). {AGAIN}"
    if staging is not None and not staging.is_dir():
        return (
            f"{staging}: the folder vanished while the job was at work; was the disk unmounted or "
            f"cleaned? Nothing of it was published. {AGAIN}"
        )
    return None


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The error and what it came from."""
    seen: list[BaseException] = []
    following: BaseException | None = error
    while following is not None and following not in seen:
        seen.append(following)
        yield following
        following = following.__cause__ or following.__context__


def _number(error: BaseException) -> int:
    """The system's number of an error, 0 if it has none."""
    if isinstance(error, OSError) and error.errno:
        return error.errno
    found = NUMBER.search(str(error))
    return int(found[1]) if found else 0


def _file(error: BaseException) -> str | None:
    name = getattr(error, "filename", None)
    return os.fsdecode(name) if isinstance(name, (str, bytes, os.PathLike)) else None


def _is_memory(error: BaseException) -> bool:
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return True
    if isinstance(error, OSError):
        return error.errno == errno.ENOMEM
    return isinstance(error, RuntimeError) and any(w in str(error).lower() for w in MEMORY)


def _memory() -> str:
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    return (
        f"out of memory; the job had reached {used} MB. Give it more (on a cluster "
        "--set-resources RULE:mem_mb=N), run fewer jobs at once (--cores), or take a smaller batch "
        f"in the config. {AGAIN}"
    )


def _full(file: str, number: int) -> str:
    if number == errno.EFBIG:
        return (
            f"{file}: the file grew beyond what this user may write (ulimit -f). Raise the limit. "
            f"{AGAIN}"
        )
    return (
        f"{file}: no space is left on its disk{_free(file)}. Make room there, or start in a folder "
        f"on a larger disk (--directory). Nothing half-written was kept. {AGAIN}"
    )


def _free(file: str) -> str:
    first = Path(file.partition(", ")[0])
    for place in (first, *first.parents):
        try:
            return f" ({shutil.disk_usage(place).free / 1e6:.1f} MB free)"
        except OSError:
            continue
    return ""
