"""What a valid ``images`` config must also satisfy, beyond types and ranges. No torch in here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from featlearn.images.config import scene_faults, world_faults
from featlearn.images.config_data import augmentation_faults


def faults(images: Mapping[str, Any]) -> Iterator[str]:
    """Values that contradict each other: one line each, with the key and what was expected."""
    world = images["world"]
    yield from world_faults(world, "images.world")
    yield from scene_faults(
        images["detection"]["scenes"], "images.detection.scenes", world["parts_per_class"]
    )
    yield from augmentation_faults(images["augmentation"], "images.augmentation")
    yield from augmentation_faults(images["gain"]["augmentation"], "images.gain.augmentation")
    yield from _pretraining_faults(images)
    yield from _label_faults(images)


def _pretraining_faults(images: Mapping[str, Any]) -> Iterator[str]:
    methods = images["pretraining"]
    for name, run in methods.items():
        key = f"images.pretraining.{name}"
        if run["encoder"] not in images["encoders"]:
            yield (
                f"{key}.encoder: {run['encoder']!r}; expected one of "
                f"{', '.join(images['encoders'])}"
            )
        teacher, needs = run["teacher"], run["objective"]["kind"] == "beit"
        if needs != (teacher is not None):
            wanted = "the method that trains the fixed teacher" if needs else "nothing"
            yield f"{key}.teacher: {teacher!r}; expected {wanted} for {run['objective']['kind']}"
        elif needs and (teacher not in methods or teacher == name):
            yield f"{key}.teacher: {teacher!r}; expected another of {', '.join(methods)}"
        elif needs and methods[teacher]["encoder"] != run["encoder"]:
            yield f"{key}.teacher: {teacher!r}; expected a method that trains {run['encoder']!r}"


def _label_faults(images: Mapping[str, Any]) -> Iterator[str]:
    train, classes = images["samples"]["train"], images["world"]["classes"]
    sections = {name: images.get(name, {"labels": []}) for name in ("comparison", "phase_diagram")}
    asked = {f"images.{name}.labels": own["labels"] for name, own in sections.items()}
    for key, counts in {**asked, "images.gain.labels": [images["gain"]["labels"]]}.items():
        for count in counts:
            if not 2 * classes <= count <= train:
                yield (
                    f"{key}: {count}; expected from {2 * classes} (two a class) "
                    f"to {train}, the training pictures"
                )
