"""What a valid ``universality`` config must satisfy beyond types and ranges. No torch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def faults(universality: Mapping[str, Any]) -> Iterator[str]:
    """Values that contradict each other: one line each, with the key and what was expected."""
    probe = universality["theory"]["probe"]
    features = probe["shared"] + probe["private"]
    if min(probe["labels"]) >= 2 * features:
        yield (
            f"universality.theory.probe.labels: {probe['labels']}; expected one below twice the "
            f"{features} features, where weights of features matter"
        )
    if 1 not in probe["tasks"]:
        yield f"universality.theory.probe.tasks: {probe['tasks']}; expected also 1"
