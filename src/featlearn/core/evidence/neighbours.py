"""Neighbours: points of a run at which the verdicts of an experiment should be what they are."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from featlearn.core.errors import ConfigError
from featlearn.core.run.checks import cut, value_of
from featlearn.core.run.job import POINTS
from featlearn.core.run.points import PREFIX, Point, full_key, point

TARGET = "neighbours"
#: A factor of the number that the run has.
FACTOR = re.compile(r"([x/])(\d+(?:\.\d+)?)")
#: Digits of a number that a factor gives.
DIGITS = 6


@dataclass(frozen=True)
class Neighbour:
    """A point, the experiment that it must not turn, and the premise that it comes nearer to."""

    experiment: str
    name: str
    towards: str
    point: Point


def wanted(words: Iterable[str]) -> bool:
    """Whether a command line of Snakemake asks for neighbours, or is that of one of their jobs."""
    return any(
        one == TARGET or f"/{TARGET}/" in one or f"/{POINTS}/" in one
        or one.startswith(PREFIX)
        for one in words
    )  # fmt: skip


def read(config: Mapping[str, Any], experiments: Container[str], root: Path) -> Iterator[Neighbour]:
    """The neighbours that a config declares for its papers; ConfigError naming a wrong one."""
    for experiment, some in config[TARGET].items():
        where = f"{TARGET}.{experiment}"
        if experiment.partition("/")[0] not in config["papers"]:
            continue
        if experiment not in experiments:
            raise ConfigError(f"{where} must be an experiment with claims, such as looped/learned")
        names = [one["name"] for one in some]
        for one in some:
            if names.count(one["name"]) > 1:
                raise ConfigError(f"{where} must be names that differ, got {one['name']!r} twice")
            try:
                changes = {
                    name: scaled(value_of(config, name), value)
                    for key, value in one["change"].items()
                    for name in (full_key(config, key, root),)
                }
                changed = point(config, changes, root)
            except ConfigError as error:
                raise ConfigError(f"{where}, {one['name']}: {error}") from error
            yield Neighbour(experiment, one["name"], one.get("towards", ""), changed)


def unreached(
    neighbours: Sequence[Neighbour], reached: Mapping[str, Container[str]]
) -> Iterator[str]:
    """A line for each neighbour whose experiment is not ``reached`` (by slug), or if there is
    none."""
    if not neighbours:
        yield f"{TARGET}: this config declares none of its papers; see docs/configuration.md"
    for one in neighbours:
        if one.experiment not in reached[one.point.slug]:
            keys = ", ".join(one.point.changes)
            yield f"{TARGET}.{one.experiment}, {one.name}: no rule of the experiment reads {keys}"


def scaled(old: Any, new: Any) -> Any:
    """A value; ``x4`` and ``/3`` are factors of the run's, which must be a number that admits
    it."""
    factor = FACTOR.fullmatch(new) if isinstance(new, str) else None
    if factor is None:
        return new
    if isinstance(old, list):
        return [scaled(one, new) for one in old]
    if isinstance(old, bool) or not isinstance(old, int | float):
        raise ConfigError(f"{new} must be a factor of a number, the run has {cut(old)}")
    value = old * float(factor[2]) if factor[1] == "x" else old / float(factor[2])
    if isinstance(old, int):
        if not value.is_integer():
            raise ConfigError(f"{new} of {old} must be a whole number, got {value:.6g}")
        return int(value)
    return float(f"{value:.{DIGITS}g}")
