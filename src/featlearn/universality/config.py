"""What a valid ``universality`` config must satisfy beyond types and ranges. No torch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

#: Shares of the labels that figures show, in per cent.
SHARES = (1, 5, 10, 20, 100)


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
    yield from _ladder_faults(universality["ladders"])


def _ladder_faults(ladders: Mapping[str, Any]) -> Iterator[str]:
    mixtures, tasks, key = ladders["mixtures"], ladders["tasks"], "universality.ladders"
    for wanted in (1, tasks):
        if wanted not in mixtures:
            yield f"{key}.mixtures: {mixtures}; expected also {wanted}: the target alone, and all"
    if max(mixtures) > tasks:
        yield f"{key}.mixtures: {mixtures}; expected at most the {tasks} tasks that there are"
    if sorted(mixtures) != list(mixtures):
        yield f"{key}.mixtures: {mixtures}; expected a rising list"
    expected = [ladders["samples"]["train"] * share // 100 for share in SHARES]
    if list(ladders["labels"]) != expected:
        yield (
            f"{key}.labels: {ladders['labels']}; expected {expected}: {SHARES} % of the "
            f"{ladders['samples']['train']} training samples"
        )
