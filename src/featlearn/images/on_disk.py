"""Which files of a data set have which role, and whether they are there. Imports no torch."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from featlearn.core.errors import ConfigError, FeatlearnError
from featlearn.images.config_data import given_splits

if TYPE_CHECKING:
    from featlearn.images.readers.common import Source


def as_opened(data: Mapping[str, Any]) -> dict[str, Any]:
    """The ``data`` group as the readers get it: which split has which role is settled.

    Two roles are enough, as nothing is chosen on other images than labelled training ones. The test
    images are those of the set's own test split, else of its validation split, else a share.

    Raises
    ------
    ConfigError
        If there would be no test images.
    """
    opened = dict(data)
    if data.get("path"):
        opened["path"] = str(Path(data["path"]).expanduser())
    given = given_splits(opened)
    roles = {"train": given["train"]}
    test = given.get("test", given.get("validation"))
    if test is not None:
        return opened | {"splits": roles | {"test": test}, "shares": {}}
    share = (data.get("shares") or {}).get("test", 0)
    if share <= 0:
        raise ConfigError("shares.test: expected more than 0: the set has no split for testing")
    return opened | {"splits": roles, "shares": {"test": share}}


def sources(data: Mapping[str, Any]) -> dict[str, Source]:
    """The splits of a data set as they lie on disk, by name; no image is read.

    Raises
    ------
    FeatlearnError
        If files are missing: it says which, and where they go.
    """
    from featlearn.images.readers import READERS

    try:
        opened = as_opened(data)
        read = READERS[data["kind"]]
        return {split: read(opened, split) for split in dict.fromkeys(opened["splits"].values())}
    except FeatlearnError:
        raise
    # a path may be too long, hold a NUL, name a home that is none, or lie where nobody may look
    except (OSError, ValueError, RuntimeError) as error:
        raise ConfigError(f"path: {data.get('path')!r}; cannot be opened: {error}") from error


def is_file(name: str | os.PathLike[str]) -> bool:
    """Whether there is such a file; False as well for what cannot be a path."""
    try:
        return Path(name).expanduser().is_file()
    except (OSError, ValueError, RuntimeError):
        return False


def listing_digest(opened: Mapping[str, Source], root: str) -> str:
    """A digest of names, sizes and times of change of the files of every split."""
    listing = []
    for split, source in opened.items():
        for path in source.files:
            with contextlib.suppress(OSError):  # a dead link is a fault that the reader tells
                seen = path.stat()
                name = os.fsencode(os.path.relpath(path, root)).hex()
                listing.append([split, name, seen.st_size, seen.st_mtime_ns])
    return hashlib.sha256(json.dumps(listing).encode()).hexdigest()[:16]
