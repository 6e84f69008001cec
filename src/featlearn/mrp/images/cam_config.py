"""What a valid ``eigencam`` config must also satisfy, beyond types and ranges.

Imports torch only where weights have names of a library, and only to say which file they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from featlearn.core.errors import ConfigError, FeatlearnError
from featlearn.images.on_disk import is_file, listing_digest


def faults(config: Mapping[str, Any]) -> Iterator[str]:
    """Values that contradict each other: one line each, with the key and what was expected."""
    cams, images = config["eigencam"], config["images"]
    test, classes = images["samples"]["test"], images["world"]["classes"]
    if cams["pictures"] > test:
        yield (
            f"eigencam.pictures: {cams['pictures']}; expected at most images.samples.test, {test}"
        )
    highest = max(cams["shown"]["classes"])
    if highest > classes:
        yield (
            f"eigencam.shown.classes: {highest}; expected at most images.world.classes, {classes}"
        )


def missing_files(photographs: Mapping[str, Any]) -> Iterator[str]:
    """Of the weights of the networks whose maps are drawn: which file is to be put where."""
    if photographs["folder"] is None:
        return
    folder = Path(photographs["weights_folder"])
    for number, model in enumerate(photographs["models"]):
        key, weights = f"eigencam.photographs.models.{number}.weights", str(model["weights"])
        if ":" not in weights:
            if not is_file(folder / weights):
                yield f"{key}: {weights!r}; expected the file {folder / weights}"
            continue
        from featlearn.images.weights import find_weights

        try:
            find_weights(weights, folder)
        except FeatlearnError as error:
            yield f"{key}: {error}"


def state(photographs: Mapping[str, Any]) -> str | None:
    """A digest of names, sizes and times of change of the photographs; None without a folder.

    Raises
    ------
    ConfigError
        If there is no such folder, or no image in it.
    """
    if photographs["folder"] is None:
        return None
    from featlearn.images.readers.folder import read_folder

    try:
        source = read_folder({"path": photographs["folder"]}, "all")
    except (FeatlearnError, OSError, ValueError) as error:  # a path may be none
        raise ConfigError(f"eigencam.photographs.folder: {error}") from error
    return listing_digest({"all": source}, photographs["folder"])
