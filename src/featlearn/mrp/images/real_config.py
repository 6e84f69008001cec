"""What a valid ``real_images`` config is, beyond types, and whether its data are there.

Imports no torch: all of it is looked at before the first job.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from featlearn.core.errors import ConfigError, FeatlearnError
from featlearn.images.config_data import augmentation_faults, data_faults, given_splits

if TYPE_CHECKING:
    from featlearn.images.readers.common import Source

#: Starts of an encoder; ``GIVEN`` are the weights that the config names.
RANDOM, PRETRAINED, GIVEN = "random", "pretrained", "given"


def starts(settings: Mapping[str, Any]) -> list[str]:
    """What the encoder of a data set starts from."""
    return [RANDOM, PRETRAINED, *([GIVEN] if settings["weights"] else [])]


def faults(real_images: Mapping[str, Any]) -> Iterator[str]:
    """Values that contradict each other: one line each, with the key and what was expected."""
    for name, settings in real_images.items():
        key = f"real_images.{name}"
        yield from data_faults(settings["data"], f"{key}.data")
        yield from _role_faults(settings["data"], f"{key}.data")
        yield from augmentation_faults(settings["augmentation"], f"{key}.augmentation")
        yield from _method_faults(settings, key)


def _role_faults(data: Mapping[str, Any], key: str) -> Iterator[str]:
    for group in ("shares", "splits"):
        value = (data.get(group) or {}).get("validation")
        if value:
            yield (
                f"{key}.{group}.validation: {value!r}; expected none: what is chosen is chosen on "
                "labelled training images"
            )


def _method_faults(settings: Mapping[str, Any], key: str) -> Iterator[str]:
    objective = settings["pretraining"]["objective"]
    kind = objective["kind"]
    if kind == "beit":
        yield (
            f"{key}.pretraining.objective.kind: beit; expected simmim, mae or data2vec, which need "
            "no teacher"
        )
    size = settings["augmentation"].get("size") or settings["data"]["size"]
    cell = objective.get(kind, {}).get("mask_size")
    if cell and size % cell:
        yield (
            f"{key}.pretraining.objective.{kind}.mask_size: {cell}; expected a divisor of the "
            f"images' size, {size} pixels"
        )
    weights = settings["weights"]
    if weights and ":" not in weights and not Path(weights).expanduser().is_file():
        yield (
            f"{key}.weights: {weights!r}; expected a file, or a name such as torchvision:... or "
            "timm:..."
        )


# --------------------------------------------------------------------------- data on disk


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

    opened = as_opened(data)
    read = READERS[data["kind"]]
    return {split: read(opened, split) for split in dict.fromkeys(opened["splits"].values())}


def state(real_images: Mapping[str, Any]) -> dict[str, str]:
    """A digest of names, sizes and times of change of the files of every data set.

    Raises
    ------
    ConfigError
        Naming each data set that is not there, and what was expected.
    """
    found, missing = {}, []
    for name, settings in real_images.items():
        try:
            found[name] = _digest(sources(settings["data"]), settings["data"].get("path") or ".")
        except FeatlearnError as error:
            missing.append(f"real_images.{name}.data: {error}")
    if missing:
        raise ConfigError("\n".join(missing))
    return found


def _digest(opened: Mapping[str, Source], root: str) -> str:
    listing = []
    for split, source in opened.items():
        for path in source.files:
            with contextlib.suppress(OSError):  # a dead link is a fault that the reader tells
                seen = path.stat()
                name = os.fsencode(os.path.relpath(path, root)).hex()
                listing.append([split, name, seen.st_size, seen.st_mtime_ns])
    return hashlib.sha256(json.dumps(listing).encode()).hexdigest()[:16]
