"""What a valid ``real_images`` config is, beyond types, and whether its data are there.

Imports no torch: all of it is looked at before the first job.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from featlearn.core.errors import ConfigError, FeatlearnError
from featlearn.images.config_data import augmentation_faults, data_faults
from featlearn.images.on_disk import as_opened, listing_digest, sources

__all__ = ["GIVEN", "PRETRAINED", "RANDOM", "as_opened", "faults", "sources", "starts", "state"]

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
            data = settings["data"]
            found[name] = listing_digest(sources(data), data.get("path") or ".")
        except FeatlearnError as error:
            missing.append(f"real_images.{name}.data: {error}")
    if missing:
        raise ConfigError("\n".join(missing))
    return found
