"""What a valid ``mrp`` config must also satisfy, beyond types and ranges. No torch in here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def faults(mrp: Mapping[str, Any]) -> Iterator[str]:
    """Values that contradict each other: one line each, with the key and what was expected."""
    for experiment, settings in mrp.items():
        if "data" in settings:
            yield from _data_faults(settings["data"], f"mrp.{experiment}.data")
        if "pretraining" in settings:
            yield from _training_faults(settings["pretraining"], f"mrp.{experiment}.pretraining")
        if "scaling" in settings:
            yield from _scaling_faults(settings, f"mrp.{experiment}")


def _data_faults(data: Mapping[str, Any], key: str) -> Iterator[str]:
    classes, per_class = data["classes"], data["features_per_class"]
    features = classes * per_class
    if data["patches"] < features * data["patches_per_feature"]:
        yield (
            f"{key}.patches: {data['patches']}; expected at least {classes} classes x {per_class} "
            f"features x {data['patches_per_feature']} patches a feature = "
            f"{features * data['patches_per_feature']}: a sample may hold every feature"
        )
    if data["dimension"] < features:
        yield (
            f"{key}.dimension: {data['dimension']}; expected at least {features}: the features of "
            f"{classes} classes are orthonormal"
        )
    if data["sparsity"] > classes:
        yield (
            f"{key}.sparsity: {data['sparsity']}; expected at most classes ({classes}): "
            "a feature of another class appears with probability sparsity / classes"
        )
    for name in ("main_strength", "off_strength"):
        low, high = data[name]
        if low > high:
            yield f"{key}.{name}: [{low}, {high}]; expected the lower end first"


def _training_faults(settings: Mapping[str, Any], key: str) -> Iterator[str]:
    if settings["max_steps"] < settings.get("record_every", 0):
        yield (
            f"{key}.record_every: {settings['record_every']}; expected at most "
            f"max_steps ({settings['max_steps']})"
        )


def _scaling_faults(settings: Mapping[str, Any], key: str) -> Iterator[str]:
    if settings["classes"] != sorted(settings["classes"]):
        yield f"{key}.classes: {settings['classes']}; expected from few to many"
    for name, group in (("", settings), (".length", settings["length"])):
        q = group["network"]["q"]
        if q < 3:
            yield (
                f"{key}{name}.network.q: {q}; expected at least 3: "
                "sigma_0 falls with k like k ** (-1 / (q - 2))"
            )
