"""What a valid ``eigencam`` config must also satisfy, beyond types and ranges. No torch in here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


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
    photographs = cams["photographs"]
    if (photographs["folder"] is None) != (photographs["weights_folder"] is None):
        yield (
            "eigencam.photographs: folder and weights_folder: one of them is not given; expected "
            "both, or neither"
        )
