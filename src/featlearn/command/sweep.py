"""``featlearn sweep``: what becomes of verdicts as one or two keys of the config change."""

from __future__ import annotations

import argparse
import functools
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from featlearn.command.flow import settings_of, snakemake, workflow
from featlearn.core import sweeps
from featlearn.core.config import load, merge, read_yaml
from featlearn.core.errors import ConfigError, FeatlearnError


def value_in(text: str) -> Any:
    """A value of a key as YAML has it; ``1e-3`` is a number too."""
    try:
        value = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise ConfigError(f"{text!r} is no value of YAML") from error
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            return value
    return value


def section_of(options: argparse.Namespace) -> dict[str, Any]:
    """The section ``sweep`` that a command line asks for."""
    keys: dict[str, Any] = {}
    for key, *texts in [options.values, *options.also]:
        values: Any = [value_in(text) for text in texts]
        if options.points:
            if len(values) != 2:
                raise ConfigError(f"{key}: --points is between two values, got {len(values)}")
            values = {"from": values[0], "to": values[1], "points": options.points}
            values |= {"scale": "log"} if options.log else {}
        if key in keys:
            raise ConfigError(f"{key}: given twice")
        keys[key] = values
    return {"keys": keys, "claims": options.claims}


def sweep(options: argparse.Namespace) -> int:
    """Sweep; with ``--until-turns`` until it is known where the verdict of a claim changes."""
    settings = settings_of(options.set)
    if options.scale:
        settings["scale"] = options.scale
    files = [options.configfile] if options.configfile else []
    given: dict[str, Any] = {}
    for file in files:
        if not isinstance(read := read_yaml(Path(file)), dict):
            raise ConfigError(f"{file} must be a group of keys, got {read!r}")
        given = read
    if options.until_turns and (options.points or options.also or len(options.values) != 3):
        raise ConfigError("--until-turns must have one key with two values")
    if options.until_turns:
        options.claims = [options.until_turns]
    root, section = workflow(), section_of(options)
    run = functools.partial(_run, options, files, settings, given, section, root)
    if not options.until_turns or options.dry_run:
        code, folder = run(None)
        if code == 0 and not options.dry_run:
            print(f"Open {folder}/table.md and the figures beside it")
        return code
    (ends,) = section["keys"].values()
    if not all(isinstance(one, int | float) and not isinstance(one, bool) for one in ends):
        raise ConfigError(f"--until-turns must have two numbers, got {ends}")
    if not 0 < options.accuracy < math.inf or (options.log and min(ends) <= 0):
        raise ConfigError("--accuracy must be more than 0, and so must both values with --log")
    return _until(options, run, ends)


class _Failed(Exception):
    """A run that ended badly, with its exit code."""


def _until(options: argparse.Namespace, run: Any, ends: Sequence[float]) -> int:
    """Run more and more points; say where the verdict changes."""
    folder = ""

    def verdicts(values: list[float]) -> list[str]:
        nonlocal folder
        code, folder = run(values)
        if code:
            raise _Failed(code)
        return verdicts_of(Path(folder) / "table.parquet", values)

    try:
        low, high = sweeps.bisected(ends[0], ends[1], verdicts, options.accuracy, options.log)
    except _Failed as failed:
        return int(failed.args[0])
    told = " and ".join(f"{value} ({verdict})" for value, verdict in (low, high))
    words = "turns" if low[1] != high[1] else "does not turn"
    print(f"{options.until_turns} {words} between {told}. Open {folder}/table.md")
    return 0


def verdicts_of(table: Path, values: Sequence[float]) -> list[str]:
    """The verdict at each value of the one key, of a table with one claim."""
    import pyarrow.parquet

    columns = pyarrow.parquet.read_table(table).to_pydict()
    key = next(iter(columns))
    known = dict(zip(columns[key], columns["verdict"], strict=True))
    return [known[value] for value in values]


def _run(
    options: argparse.Namespace,
    files: Sequence[str],
    settings: dict[str, Any],
    given: dict[str, Any],
    section: dict[str, Any],
    root: Path,
    values: Sequence[float] | None,
) -> tuple[int, str]:
    """One run of the workflow, with ``values`` of the one key if given; exit code and folder."""
    if values is not None:
        section = section | {"keys": {key: list(values) for key in section["keys"]}}
    user = merge(merge(given, settings), {"sweep": section})
    config = load(user, root)
    swept = sweeps.read(config, root)
    if swept is None:
        raise FeatlearnError("sweep: nothing to sweep")
    # papers whose sections no point changes need not be read
    papers = [
        one for one in config["papers"] if any(one in at.config["papers"] for at in swept.points)
    ]
    more = settings | {"papers": papers, "sweep": section}
    return snakemake(["sweep"], options, files, more), f"{config['results']}/sweeps/{swept.name}"
