"""What a valid ``noncontrastive`` config must also satisfy, beyond types and ranges. No torch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from featlearn.noncontrastive.images import config as image_config


def faults(noncontrastive: Mapping[str, Any]) -> Iterator[str]:
    """Values that contradict each other: one line each, with the key and what was expected."""
    key = "noncontrastive"
    yield from _data_faults(noncontrastive["oracles"]["data"], f"{key}.oracles.data")
    yield from _data_faults(noncontrastive["algorithm"]["data"], f"{key}.algorithm.data")
    yield from _data_faults(noncontrastive["phases"]["data"], f"{key}.phases.data")
    starts = noncontrastive["starts"]
    for name, case in starts["cases"].items():
        own = {**starts["data"], **case}
        yield from _data_faults(own, f"{key}.starts.cases.{name}")
    yield from _training_faults(noncontrastive["algorithm"], f"{key}.algorithm")
    yield from image_config.faults(noncontrastive["images"])
    dimensions = noncontrastive["phases"]["dimensions"]
    if dimensions != sorted(set(dimensions)):
        yield f"{key}.phases.dimensions: {dimensions}; expected from small to large, each once"


def _data_faults(data: Mapping[str, Any], key: str) -> Iterator[str]:
    patches, own = data["patches"], data["feature_patches"]
    if patches % 2:
        yield f"{key}.patches: {patches}; expected an even number: each view keeps half of them"
    shown = own * (2 if data.get("presence") == "both" else 1)
    if shown >= patches:
        yield (
            f"{key}.feature_patches: {own}; expected that some of the {patches} patches hold "
            f"noise, and not {shown} a feature"
        )
    strong, weak = data["strengths"]
    share = data.get("strong_share", 0.5)
    if share * strong**6 < (1 - share) * weak**6:
        yield (
            f"{key}.strengths: [{strong}, {weak}]; expected the strong feature first: with a share "
            f"of {share} the second one is stronger"
        )


def _training_faults(settings: Mapping[str, Any], key: str) -> Iterator[str]:
    training = settings["training"]
    if training["steps"] % training["record_every"]:
        yield (
            f"{key}.training.record_every: {training['record_every']}; expected a divisor of "
            f"steps ({training['steps']}): the flow is read at the same times"
        )
    if settings["variants"]["frozen"]["head_rate"] != 0:
        yield (
            f"{key}.variants.frozen.head_rate: {settings['variants']['frozen']['head_rate']}; "
            "expected 0: this is training without a head"
        )
