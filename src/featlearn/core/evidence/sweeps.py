"""Sweeps: what becomes of verdicts as one or two keys of the config change."""

from __future__ import annotations

import difflib
import itertools
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from featlearn.core.errors import ConfigError
from featlearn.core.run.checks import cut, value_of
from featlearn.core.run.notes import noted, of_sources
from featlearn.core.run.points import Point, full_key, point, safe
from featlearn.core.run.workspace import told_by


@dataclass(frozen=True)
class Sweep:
    """The section ``sweep`` of a config.

    ``keys``: one or two, dotted. ``points``: one a value or pair of values. ``probes``: a point a
    key, at which no other is changed: what does it reach? ``claims``: to watch; none for all.
    """

    keys: tuple[str, ...]
    points: tuple[Point, ...]
    probes: tuple[Point, ...]
    claims: tuple[str, ...]

    @property
    def name(self) -> str:
        """Folder of its results: the keys, so that more values later add to the same."""
        return safe("+".join(self.keys))


def read(config: Mapping[str, Any], root: Path) -> Sweep:
    """The sweep that a loaded config asks for; ConfigError naming what is refused."""
    section = config["sweep"]
    given = {full_key(config, key, root): values for key, values in section["keys"].items()}
    if len(given) < len(section["keys"]):
        raise ConfigError(f"sweep.keys: {', '.join(section['keys'])} are the same key")
    taken = {key: values_of(key, values) for key, values in given.items()}
    base = {key: value for key, value in config.items() if key != "sweep"}
    points = [
        point(base, dict(zip(taken, values, strict=True)), root)
        for values in itertools.product(*taken.values())
    ]
    if len({one.slug for one in points}) < len(points):
        raise ConfigError(f"sweep.keys.{' and '.join(taken)}: some values are there twice")
    probes = [
        next(point(base, {key: one}, root) for one in values if len(values) == 1 or one != old)
        for key, values in taken.items()
        for old in [value_of(base, key)]
    ]
    return Sweep(tuple(taken), tuple(points), tuple(probes), tuple(section["claims"]))


def watched(
    sweep: Sweep,
    reached: Mapping[str, Sequence[str]],
    experiments: Mapping[str, Mapping[str, Any]],
    root: Path,
) -> dict[str, list[str]]:
    """The claims that a sweep watches, by ``<paper>/<experiment>``; ConfigError naming others."""
    for key, one in zip(sweep.keys, sweep.probes, strict=True):
        if not reached[one.slug]:
            raise ConfigError(f"{key}: no experiment with claims in {_named(one)} reads this key")
    names = list(dict.fromkeys(name for one in sweep.probes for name in reached[one.slug]))
    given = [experiments[name] for name in names]
    known = noted(
        f"claims {of_sources()} {json.dumps(given, sort_keys=True, default=str)}",
        lambda: json.loads(told_by(root / "scripts/claim_ids.py", given)),
    )
    all_ids = [one for ids in known for one in ids]
    if strangers := [one for one in sweep.claims if one not in all_ids]:
        near = difflib.get_close_matches(strangers[0], all_ids, n=3, cutoff=0.4)
        hint = f"they reach {', '.join(all_ids[:9])} ..."
        if near:
            hint = f"did you mean {' or '.join(near)}?"
        raise ConfigError(
            f"sweep.claims: {cut(strangers[0], str)} is no claim that these keys reach; {hint}"
        )
    chosen = [[one for one in ids if one in (sweep.claims or ids)] for ids in known]
    return {name: ids for name, ids in zip(names, chosen, strict=True) if ids}


def _named(one: Point) -> str:
    return ", ".join(one.config["papers"]) or "the run"


def bisected(
    low: float,
    high: float,
    verdicts: Callable[[list[float]], Sequence[str]],
    accuracy: float,
    log: bool = False,
) -> list[tuple[float, str]]:
    """Halve an interval until it is known to an accuracy where a verdict changes.

    Of several changes the one next to ``low`` is followed. ``verdicts``: of values, those of
    earlier calls first. ``accuracy``: the longest interval that is left; on a log scale the largest
    ratio of its ends, less 1. Returns the two ends, ``low`` first, each with its verdict.
    """
    tried: list[float] = [low, high]
    first, last = verdicts(tried)
    while first != last:
        middle = math.sqrt(low * high) if log else (low + high) / 2
        middle = round(middle) if isinstance(low, int) and isinstance(high, int) else middle
        middle = middle if isinstance(middle, int) else float(f"{middle:.6g}")
        wide = max(low, high) / min(low, high) - 1 if log else abs(high - low)
        if wide <= accuracy * (1 + 1e-9) or middle in (low, high):
            break
        tried.append(middle)
        seen = verdicts(tried)[-1]
        if seen == first:
            low = middle
        else:
            high, last = middle, seen
    return [(low, first), (high, last)]


def values_of(key: str, given: Sequence[Any] | Mapping[str, Any]) -> list[Any]:
    """The values that a key takes: a list as it is, of a range 6 digits each."""
    where = f"sweep.keys.{key}"
    if isinstance(given, Mapping):
        ends, number = (given["from"], given["to"]), given["points"] - 1
        log = given["scale"] == "log"
        if log and min(ends) <= 0:
            raise ConfigError(f"{where}: must be from and to more than 0 on a log scale")
        first, last = map(math.log, ends) if log else ends
        steps = [first + (last - first) * n / number for n in range(number + 1)]
        given = [float(f"{math.exp(one) if log else one:.6g}") for one in steps]
    for value in given:
        if isinstance(value, float) and not math.isfinite(value):
            raise ConfigError(f"{where} must be finite numbers, got {value}")
    told = [json.dumps(value, sort_keys=True, default=str) for value in given]
    if twice := [value for value, text in zip(given, told, strict=True) if told.count(text) > 1]:
        raise ConfigError(f"{where} must be values that differ, got {cut(twice[0])} twice")
    return list(given)
