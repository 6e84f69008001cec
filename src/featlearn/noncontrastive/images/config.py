"""What a valid ``noncontrastive.images`` config must also satisfy. Imports no torch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from featlearn.core.errors import FeatlearnError
from featlearn.images.config import world_faults
from featlearn.images.config_data import LAYERED, augmentation_faults, data_faults
from featlearn.images.on_disk import listing_digest, sources
from featlearn.noncontrastive.images.cells import LONG_CELL, MAIN, cells

#: Cells of the set :data:`~featlearn.noncontrastive.images.cells.MAIN` that captions quote.
NEEDED = ("none-batch-self", LONG_CELL, "mlp-batch-self")
#: What stands for the state of a data set that is not there.
MISSING = "missing"


def faults(images: Mapping[str, Any]) -> Iterator[str]:
    """Values that contradict each other: one line each, with the key and what was expected."""
    for name, settings in images.items():
        key = f"noncontrastive.images.{name}"
        yield from augmentation_faults(settings["augmentation"], f"{key}.augmentation")
        if "data" in settings:
            yield from data_faults(settings["data"], f"{key}.data")
        else:
            yield from world_faults(settings["world"], f"{key}.world")
            yield from _picture_faults(settings, key)
        for group in _groups(settings):
            if _under(group, settings)["batch_size"] < 2:
                yield f"{key}.{group}.batch_size: 1; expected at least 2: batch norm needs several"
        if settings["robust"] and settings["robust"]["encoder"]["kind"] not in LAYERED:
            yield (
                f"{key}.robust.encoder.kind: {settings['robust']['encoder']['kind']}; expected "
                f"{' or '.join(LAYERED)}: pictures are of channels before the last rectifier"
            )
        if {"epochs", "steps"} <= set(settings["long"] or {}):
            yield f"{key}.long: epochs and steps; expected one of them"
        needed = NEEDED if name == MAIN else (LONG_CELL,)
        if absent := sorted(set(needed) - {cell.name for cell in cells(settings)}):
            yield (
                f"{key}: heads, norms and targets make no {', '.join(absent)}; expected these "
                "cells: figures and captions show them"
            )


def _picture_faults(settings: Mapping[str, Any], key: str) -> Iterator[str]:
    images = settings["samples"]["train"]
    for group in _groups(settings):
        training = _under(group, settings)
        size = training["batch_size"]
        if training["drop_last"]:
            if size > images:
                yield f"{key}.{group}.batch_size: {size}; expected at most samples.train, {images}"
        elif images % size == 1:
            yield (
                f"{key}.{group}.batch_size: {size}; of {images} pictures one is left for the last "
                "batch, which batch norm cannot do: expected drop_last: true or another size"
            )


def _groups(settings: Mapping[str, Any]) -> list[str]:
    """Keys of the trainings of a data set; the long one shares batches with the common one."""
    return ["training", *(["robust.training"] if settings["robust"] else [])]


def _under(group: str, settings: Mapping[str, Any]) -> Mapping[str, Any]:
    """What stands under a dotted key."""
    for key in group.split("."):
        settings = settings[key]
    return settings


def states(images: Mapping[str, Any]) -> tuple[dict[str, str], list[str]]:
    """For each set of real images a digest of its files; and which sets are not there.

    A set that is missing is no fault of the config: what does not need it can be made, and a plan
    can be looked at before the data are there.
    """
    found, lines = {}, []
    for name, settings in images.items():
        if "data" not in settings:
            continue
        try:
            data = settings["data"]
            found[name] = listing_digest(sources(data), data.get("path") or ".")
        except FeatlearnError as error:
            found[name] = MISSING
            lines.append(f"noncontrastive.images.{name}.data: {error}")
    return found, lines
