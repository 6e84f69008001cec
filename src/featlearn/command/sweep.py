"""``featlearn sweep``: what becomes of verdicts as one or two keys of the config change."""

from __future__ import annotations

import argparse
import contextlib
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from featlearn.command.flow import settings_of, snakemake, workflow, yaml_value
from featlearn.core.errors import ConfigError
from featlearn.core.evidence import sweeps
from featlearn.core.files import read_parquet
from featlearn.core.run.config import load, merge, read_yaml


def value_in(text: str) -> Any:
    """A value of a key as YAML has it; ``1e-3`` is a number too."""
    value = yaml_value("sweep", text)
    if isinstance(value, str):
        with contextlib.suppress(ValueError):
            return float(value)
    return value


def section_of(options: argparse.Namespace) -> dict[str, Any]:
    """The section ``sweep`` that a command line asks for."""
    keys: dict[str, Any] = {}
    for key, *texts in [options.values, *options.also]:
        values: Any = [value_in(text) for text in texts]
        if len(values) < 2 or (options.points and len(values) > 2):
            more = "" if options.points else " or more"
            raise ConfigError(f"{key} must be two values{more}, got {len(values)}")
        if options.points:
            values = {"from": values[0], "to": values[1], "points": options.points}
            values |= {"scale": "log"} if options.log else {}
        if key in keys:
            raise ConfigError(f"{key}: given twice")
        keys[key] = values
    return {"keys": keys, "claims": options.claims}


def sweep(options: argparse.Namespace) -> int:
    """Sweep; with ``--until-turns`` until it is known where the verdict of a claim changes."""
    settings = settings_of(options.set) | ({"scale": options.scale} if options.scale else {})
    files = [options.configfile] if options.configfile else []
    given = read_yaml(Path(files[0])) if files else {}
    if not isinstance(given, dict):
        raise ConfigError(f"{files[0]} must be a group of keys, got {given!r}")
    watched = options.until_turns
    if watched and (options.points or options.also or len(options.values) != 3):
        raise ConfigError("--until-turns must have one key with two values")
    options.claims = [watched] if watched else options.claims
    root, section = workflow(), section_of(options)

    def run(values: Sequence[float] = ()) -> Path:
        """Run the workflow, with ``values`` of the one key if given; the folder of the table."""
        keys = {key: [*values] or listed for key, listed in section["keys"].items()}
        swept = section | {"keys": keys}
        config = load(merge(merge(given, settings), {"sweep": swept}), root)
        read = sweeps.read(config, root)
        # papers whose sections no point changes need not be read
        changed = {one for at in read.points for one in at.config["papers"]}
        papers = [one for one in config["papers"] if one in changed]
        more = settings | {"papers": papers, "sweep": swept}
        if code := snakemake(["sweep"], options, files, more):
            raise SystemExit(code)
        return Path(config["results"]) / "sweeps" / read.name

    if watched and not options.dry_run:
        print(_turn(options, next(iter(section["keys"].values())), run))
    elif (folder := run()) and not options.dry_run:
        print(f"Open {folder}/table.md and the figures beside it")
    return 0


def _turn(options: argparse.Namespace, ends: Any, run: Callable[[list[float]], Path]) -> str:
    """Run more and more points; where the verdict changes, in words."""
    if not all(isinstance(one, int | float) and not isinstance(one, bool) for one in ends):
        raise ConfigError(f"--until-turns must have two numbers, got {ends}")
    if not 0 < options.accuracy < math.inf or (options.log and min(ends) <= 0):
        raise ConfigError("--accuracy must be more than 0, and so must both values with --log")
    table = Path()

    def verdicts(values: list[float]) -> list[str]:
        nonlocal table
        table = run(values) / "table"
        frame = read_parquet(table.with_suffix(".parquet"))  # of one key and one claim
        known = dict(zip(frame.iloc[:, 0], frame["verdict"], strict=True))
        return [known[value] for value in values]

    low, high = sweeps.bisected(ends[0], ends[1], verdicts, options.accuracy, options.log)
    told = " and ".join(f"{value} ({verdict})" for value, verdict in (low, high))
    words = "turns" if low[1] != high[1] else "does not turn"
    return f"{options.until_turns} {words} between {told}. Open {table}.md"
