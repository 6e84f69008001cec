"""What a valid section ``real_images`` is, beyond types, and whether its data are there.

Imports no torch: all of it is checked before the first job.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from featlearn.core.errors import ConfigError, FeatlearnError
from featlearn.images.config_data import augmentation_faults, data_faults, find_weights
from featlearn.images.data.on_disk import as_opened, is_file, listing_digest, look, sources

if TYPE_CHECKING:
    from featlearn.images.data.readers.common import Source

#: Starts of an encoder; ``GIVEN`` are the weights that the config names: one, or several that have
#: names, such as ``given-supervised``.
RANDOM, PRETRAINED, GIVEN = "random", "pretrained", "given"
#: From left to right in a figure of maps; given weights come last.
MAP_ORDER = (RANDOM, "simmim", "mae", "data2vec")
#: Below so many test images an accuracy says little.
FEW = 100
#: Share of the images that is kept for the test by default, and the largest that may be.
TEST_SHARE, MOST_TEST = 0.2, 0.9
#: Kinds of data that have boxes.
WITH_BOXES = ("voc0712", "voc2007", "voc2012")


def starts(settings: Mapping[str, Any]) -> list[str]:
    """What the encoder of a data set starts from."""
    trained = [PRETRAINED] if settings["pretrain"] else []
    return [RANDOM, *trained, *given_weights(settings)]


def given_weights(settings: Mapping[str, Any]) -> dict[str, str]:
    """Start -> file or name of its weights, of those that the config names."""
    weights = settings["weights"]
    if isinstance(weights, Mapping):
        return {f"{GIVEN}-{name}": source for name, source in weights.items()}
    return {GIVEN: weights} if weights else {}


def method_of(settings: Mapping[str, Any], start: str) -> str:
    """What was done before a start: the kind of pre-training, or the name of given weights."""
    if start == PRETRAINED:
        return str(settings["pretraining"]["objective"]["kind"])
    return start.removeprefix(f"{GIVEN}-")


def map_panels(real_images: Mapping[str, Any]) -> list[list[tuple[str, str]]]:
    """Classifiers (set, start) in one panel of maps: sets of the same images and encoder."""
    panels: dict[str, list[tuple[str, str]]] = {}
    for name, settings in real_images.items():
        shared = ("data", "train_images", "augmentation", "normalisation", "encoder", "shown")
        key = json.dumps({part: settings[part] for part in shared}, sort_keys=True)
        panel = panels.setdefault(key, [])
        panel += [(name, start) for start in starts(settings) if not (panel and start == RANDOM)]

    def order(column: tuple[str, str]) -> int:
        method = method_of(real_images[column[0]], column[1])
        return MAP_ORDER.index(method) if method in MAP_ORDER else len(MAP_ORDER)

    return [sorted(panel, key=order) for panel in panels.values()]


def faults(real_images: Mapping[str, Any]) -> Iterator[str]:
    """Values that contradict each other: one line each, with the key and what was expected."""
    for name, settings in real_images.items():
        key = f"real_images.{name}"
        yield from data_faults(settings["data"], f"{key}.data")
        yield from _role_faults(settings["data"], f"{key}.data")
        yield from augmentation_faults(settings["augmentation"], f"{key}.augmentation")
        yield from _method_faults(settings, key)
        if settings["detection"] and settings["data"]["kind"] not in WITH_BOXES:
            yield (f"{key}.detection: beside data of kind {settings['data']['kind']}, which have no "
                   f"boxes; expected one of {', '.join(WITH_BOXES)}")  # fmt: skip


def _role_faults(data: Mapping[str, Any], key: str) -> Iterator[str]:
    test = (data.get("shares") or {}).get("test") or 0
    if test > MOST_TEST:
        yield f"{key}.shares.test: {test!r}; expected at most {MOST_TEST}: the rest is trained on"
    for group in ("shares", "splits"):
        if value := (data.get(group) or {}).get("validation"):
            yield (f"{key}.{group}.validation: {value!r}; expected none: what is chosen is chosen on "
                   "labelled training images")  # fmt: skip


def _method_faults(settings: Mapping[str, Any], key: str) -> Iterator[str]:
    pretraining = settings["pretraining"]
    kind = pretraining["objective"]["kind"]
    size = settings["augmentation"].get("size") or settings["data"]["size"]
    cell = pretraining["objective"].get(kind, {}).get("mask_size")
    if cell and size % cell:
        yield (f"{key}.pretraining.objective.{kind}.mask_size: {cell}; expected a divisor of the "
               f"images' size, {size} pixels")  # fmt: skip
    processes, nodes = pretraining["processes"], pretraining["nodes"]
    if processes % nodes:
        yield f"{key}.pretraining.processes: {processes}; expected a multiple of the nodes, {nodes}"
    for start, weights in given_weights(settings).items():
        if ":" not in weights and not is_file(weights):
            yield (f"{key}.{_weights_key(start)}: {weights!r}; expected a file, or a name such as "
                   "torchvision:... or timm:...")  # fmt: skip


def missing_weights(real_images: Mapping[str, Any]) -> Iterator[str]:
    """Which files named weights such as ``timm:...`` still need."""
    for name, settings in real_images.items():
        for start, weights in given_weights(settings).items():
            if ":" in weights:
                try:
                    find_weights(weights)
                except FeatlearnError as error:
                    yield f"real_images.{name}.{_weights_key(start)}: {error}"


def _weights_key(start: str) -> str:
    return "weights" + start.removeprefix(GIVEN).replace("-", ".", 1)


def state(real_images: Mapping[str, Any]) -> dict[str, str]:
    """A digest of names, sizes and times of change of the files of every data set.

    Raises ConfigError naming each data set that is not there or too small, and what was expected.
    """
    found: dict[str, str] = {}
    missing: list[str] = []
    for name, settings in real_images.items():
        try:
            data = settings["data"]
            if data["kind"] == "folder":
                look(data)
            opened = sources(data)
            found[name] = listing_digest(opened, data) + changes(opened)
            missing += too_small(settings, opened, f"real_images.{name}")
        except FeatlearnError as error:
            missing.append(f"real_images.{name}.data: {error}")
    if missing:
        raise ConfigError("\n".join(missing))
    return found


def changes(opened: Mapping[str, Source]) -> str:
    """A digest of when the system last saw the files change, which no program can set."""
    seen = hashlib.sha256()
    for source in opened.values():
        for path in source.files:
            with contextlib.suppress(OSError):  # a dead link is a fault that the reader tells
                seen.update(path.stat().st_ctime_ns.to_bytes(8, "big"))
    return seen.hexdigest()[:16]


def too_small(settings: Mapping[str, Any], opened: Mapping[str, Source], key: str) -> Iterator[str]:
    """What a folder has too few images for, a line each; of other kinds only the reader knows."""
    if settings["data"]["kind"] != "folder":
        return
    whole = as_opened(settings["data"])
    counts = {split: len(source.files) for split, source in opened.items()}
    train = counts[whole["splits"]["train"]]
    classes = len(opened[whole["splits"]["train"]].classes)
    if classes < 2:
        yield f"{key}.data: {classes or 'no'} class folders; expected two or more, one a class"
        return
    if share := whole["shares"].get("test"):
        held = int(share * train + 1e-9)
        if not held:
            yield (f"{key}.data: {train} images, of which shares.test: {share} leaves none for the "
                   f"test; expected {math.ceil(1 / share)} or more")  # fmt: skip
        train -= held
    train = min(train, settings["train_images"] or train)
    fewest = min(settings["label_fractions"])
    for part, images, which in (
        ("pretraining", train, "training images"),
        ("finetuning", max(classes, round(fewest * train)), f"labels at {fewest:g} of them"),
    ):
        training = settings[part]["training"]
        if training["drop_last"] and images < training["batch_size"]:
            yield (f"{key}.{part}.training.batch_size: {training['batch_size']}; expected at most the "
                   f"{images} {which}, or drop_last: false: no step has enough")  # fmt: skip
