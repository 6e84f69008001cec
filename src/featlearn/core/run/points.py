"""Points: the config of a run with some keys changed, planned beside the run as further rules.

The files of a point lie in ``results/<run>/points/<slug>``. Its rules are those of its paper, read
once more with the changed config. A job with the rule, wildcards, params and inputs of a job of the
run, or of an earlier point, is that job: :class:`Plan` leaves it out. So a point costs the jobs
that its keys reach, and no more.
"""

from __future__ import annotations

import copy
import difflib
import functools
import hashlib
import json
import math
import operator
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from featlearn.core.errors import ConfigError
from featlearn.core.run import config as configs
from featlearn.core.run.checks import cut, keys, path_of
from featlearn.core.run.job import POINTS
from featlearn.core.run.notes import noted, of_files, of_sources
from featlearn.core.run.provenance import module_file
from featlearn.core.run.registry import Published, as_list

#: The names of rules of points begin so.
PREFIX = "at_"
#: Keys of a config that say where a run lies and what it holds: no point changes them.
FIXED = ("scale", "run", "results", "papers", "portable", "sweep", "neighbours")
#: Letters of a slug, of which a folder is named.
LETTERS = 120


@dataclass(frozen=True)
class Point:
    """A changed config: ``changes`` by dotted key, all of it, and the ``slug`` of its folder."""

    changes: Mapping[str, Any]
    config: Mapping[str, Any] = field(repr=False)
    slug: str

    @property
    def folder(self) -> str:
        """Of its files."""
        return f"{self.config['results']}/{POINTS}/{self.slug}"

    @property
    def prefix(self) -> str:
        """Of the names of its rules."""
        named = (re.sub(r".*?([^.]+(\.\d+)?)$", r"\1", key) for key in self.changes)
        words = "_".join(
            f"{key}_{one}" for key, one in zip(named, self.changes.values(), strict=True)
        )
        return PREFIX + re.sub(r"\W+", "_", words)[:40] + f"_{_digest(self.slug)[:6]}_"


def slug(changes: Mapping[str, Any]) -> str:
    """A readable folder name; no two changes have the same."""
    return safe(",".join(f"{key}={_text(value)}" for key, value in changes.items()))


def safe(whole: str) -> str:
    """A text as the name of a folder."""
    plain = re.sub(r"[^\w.,=+-]", "-", whole, flags=re.ASCII)[:LETTERS]
    return plain if plain == whole else f"{plain}-{_digest(whole)[:8]}"


def _text(value: Any) -> str:
    """A value in JSON; a word that is nothing else in it goes without quotes."""
    plain = isinstance(value, str) and re.fullmatch(r"[A-Za-z_]\w*", value, re.ASCII)
    if plain and value not in ("true", "false", "null", "NaN", "Infinity"):
        return str(value)
    return json.dumps(value, default=str)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _node(config: Mapping[str, Any], key: str, schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """What the schema says of a key of the config; nothing where it names no single key."""
    node: Any = schema
    for name in path_of(config, key) or ():
        others = node.get("additionalProperties") or node.get("items") or {}
        node = configs.resolve(node.get("properties", {}).get(name, others) or {}, schema)
    return node


def meaning(config: Mapping[str, Any], key: str, root: Path) -> str:
    """A key in the words of the schema; of an entry of a list, in those of the list."""
    said = _node(config, key, _schema(root)).get("description", "")
    group, _, last = key.rpartition(".")
    if said or not group:
        return str(said)
    entry = f", entry {int(last) + 1}" if last.isdecimal() else ""
    return meaning(config, group, root) + entry


def _by_symbol(config: Mapping[str, Any], key: str, schema: Mapping[str, Any]) -> str | None:
    """The key that the schema calls by the paper's symbol: ``data.gamma`` is ``feature_noise``."""
    group, _, symbol = key.rpartition(".")
    found = [
        f"{group}.{name}"
        for name, below in _node(config, group, schema).get("properties", {}).items()
        if f"({symbol})" in configs.resolve(below, schema).get("description", "")
    ]
    return found[0] if group and len(found) == 1 and path_of(config, found[0]) else None


def full_key(config: Mapping[str, Any], key: str, root: Path) -> str:
    """A dotted key, whose last part may be the paper's symbol; ConfigError with near keys."""
    if key.partition(".")[0] in FIXED:
        raise ConfigError(f"{key}: names what a run is; expected a key that its jobs read")
    if key and path_of(config, key):
        return key
    if key and (known := _by_symbol(config, key, _schema(root))):
        return known
    listed = list(keys({name: one for name, one in config.items() if name not in FIXED}))
    near = difflib.get_close_matches(key, listed, n=3, cutoff=0.5)
    last = key.rpartition(".")[2]
    near += [one for one in listed if last and one.endswith(f".{last}") and one not in near][:3]
    hint = f"did you mean {' or '.join(near)}?" if near else "docs/configuration.md lists all keys"
    raise ConfigError(f"{cut(key, str)}: unknown key; {hint}")


@functools.cache
def _schema(root: Path) -> dict[str, Any]:
    """Read once: it is not changed."""
    return configs.read_schema(root / "workflow" / "schemas")


def _like(old: Any, new: Any) -> Any:
    """A number as the config writes it, so that a value it has already is no other."""
    plain = isinstance(new, int | float) and not isinstance(new, bool)
    if plain and isinstance(old, float):
        return float(new)
    if plain and type(old) is int and isinstance(new, float) and new.is_integer():
        return int(new)
    return new


def point(config: Mapping[str, Any], changes: Mapping[str, Any], root: Path) -> Point:
    """A point of a run; ConfigError naming a key or value that is refused."""
    changed: dict[str, Any] = copy.deepcopy(dict(config))
    taken = {}
    for key, value in changes.items():
        name = full_key(config, key, root)
        *groups, last = path_of(config, name) or [name]
        inner = functools.reduce(operator.getitem, groups, changed)
        taken[name] = inner[last] = _like(inner[last], value)
        if isinstance(value, float) and not math.isfinite(value):
            raise ConfigError(f"{name} must be a finite number, got {value}")
    files = tuple(sorted((root / "workflow" / "schemas").glob("*")))
    known = f"point {of_sources()} {of_files(files, root)} {_digest(repr((changed, taken)))}"
    papers, fault = noted(known, lambda: [*_checked(changed, taken, root)])
    if fault:
        told = ", ".join(f"{key} = {cut(value)}" for key, value in taken.items())
        raise ConfigError(f"the point {told}: {fault}")
    changed["papers"] = papers
    return Point(taken, changed, slug(taken))


def _checked(
    config: Mapping[str, Any], changes: Mapping[str, Any], root: Path
) -> tuple[list[str], str]:
    """The papers whose sections changes are in, and what is wrong with the changed config."""
    schema = _schema(root)
    sections = {key.partition(".")[0] for key in changes}
    home = {name: paper for paper, names in schema["papers"].items() for name in names}
    wanted = {home.get(name) for name in sections}
    papers = [one for one in config["papers"] if one in wanted or None in wanted]
    written = {key: value for key, value in config.items() if key != "results"}
    found = list(configs.faults(written, configs.with_ends(schema)))
    for paper in () if found else papers:
        if module_file(f"featlearn.{paper}.config"):
            found += import_module(f"featlearn.{paper}.config").faults(config[paper])
    try:
        configs.refuse(found)
    except ConfigError as error:
        return papers, str(error)
    return papers, ""


@dataclass
class _Rules:
    """The rules of a run or a point: by the files that they make, and those with wildcards."""

    folder: str
    prefix: str
    fixed: dict[str, Any]
    open: list[Any]


class Plan:
    """Which jobs of points are those of the run, or of an earlier point."""

    def __init__(
        self,
        rules: dict[str, Any],
        config: Mapping[str, Any],
        published: Published,
        named: Callable[[str], str] = str,
    ):
        self._rules, self._config, self._published = rules, config, published
        self._named = named
        self._base = self._rules_of(published.results, named(""))
        self._folders = {published.results: self._base}
        self._made: dict[str, str] = {}
        self._settled: dict[str, str] = {}
        self._needed: dict[str, dict[str, Any]] = {}
        self._jobs: dict[str, tuple[str, bool, list[str]]] = {}

    def _rules_of(self, folder: str, prefix: str) -> _Rules:
        own = [rule for name, rule in self._rules.items() if name.startswith(prefix)]
        fixed = {str(file): rule for rule in own for file in rule.output}
        return _Rules(folder, prefix, fixed, [rule for rule in own if rule.has_wildcards()])

    def take(self, point: Point, published: Published) -> list[str]:
        """Take in a point whose rules were read; the experiments with claims that it reaches."""
        self._folders[point.folder] = self._rules_of(point.folder, self._named(point.prefix))
        reached, points = list[str](), f"{self._base.folder}/{POINTS}/"
        for shown in published.experiments:
            word = shown.name.replace("-", "_")
            before, now = (one[shown.paper].get(word) for one in (self._config, point.config))
            files = [file for value in shown.frames.values() for file in as_list(value)]
            new = (self.settle(file).startswith(points) for file in files)  # not of the run
            if shown.claims and (before != now or any(new)):
                reached.append(f"{shown.paper}/{shown.name}")
        return reached

    def _ledger(self, point: Point, experiment: str) -> str:
        file = self._published.ledger(*experiment.split("/"))
        return f"{point.folder}/{self._inside(file)}"

    def ledger(self, point: Point, experiment: str) -> str:
        """File with the judged claims of ``<paper>/<experiment>`` at a point."""
        return self.settle(self._ledger(point, experiment))

    def count(self, point: Point, experiments: Iterable[str]) -> tuple[int, int]:
        """Jobs behind ledgers at a point, and how many of them the run or another point makes."""
        jobs: dict[str, bool] = {}
        waiting = [self._ledger(point, one) for one in experiments]
        while waiting:
            if (file := waiting.pop()) in self._jobs:
                job, own, inputs = self._jobs[file]
                if job not in jobs:
                    jobs[job] = own
                    waiting += inputs
        return len(jobs), sum(not own for own in jobs.values())

    def _inside(self, file: str, folder: str = "") -> str:
        return file.removeprefix(f"{folder or self._published.results}/")

    def settle(self, file: str) -> str:
        """The file to read in place of one of a point: it, or that of who makes it first."""
        if file not in self._settled:
            self._settled[file] = self._place(file)
        return self._settled[file]

    def _place(self, file: str) -> str:
        base = self._base.folder
        folder, _, rest = file.removeprefix(f"{base}/{POINTS}/").partition("/")
        rules = self._folders.get(f"{base}/{POINTS}/{folder}" if rest else base, self._base)
        found = (one for one in rules.open if one.is_producer(file))
        if (rule := rules.fixed.get(file) or next(found, None)) is None:
            return file
        inside = self._inside(file, rules.folder)
        if rules is not self._base:
            self.settle(f"{base}/{inside}")  # what the run makes comes first
        wildcards = rule.get_wildcards(file)
        inputs, *_ = rule.expand_input(wildcards)
        output, *_ = rule.expand_output(wildcards)
        params, _ = rule.expand_params(wildcards, inputs, output, None)
        given: list[Any] = []
        for name, some in inputs._allitems():  # one file stays one, and no list of it
            settled = [self.settle(str(one)) for one in as_list(some)]
            given.append((name, settled[0] if isinstance(some, str) else settled))
        name = rule.name.removeprefix(rules.prefix)
        said = [pair for pair in params._allitems() if pair[0] != "point"]
        text = json.dumps([name, [*output], said], sort_keys=True, default=str)
        job = _digest(text.replace(f"{rules.folder}/", f"{base}/") + json.dumps(given))
        place = self._made.setdefault(job, rules.folder)
        own = place == rules.folder
        self._jobs[file] = job, own, [str(one) for one in inputs]
        if rules is not self._base and own:
            self._needed.setdefault(rule.name, {})[_of(wildcards)] = given
        return f"{place}/{inside}"

    def close(self) -> None:
        """Rules of points read what was settled; those that nobody needs are taken out."""
        for rules in self._folders.values():
            if rules is self._base:
                continue
            for name in [one for one in self._rules if one.startswith(rules.prefix)]:
                if jobs := self._needed.get(name):
                    _read(self._rules[name], jobs)
                else:
                    del self._rules[name]


def _of(wildcards: Mapping[str, str]) -> str:
    return json.dumps(dict(wildcards), sort_keys=True)


def _read(rule: Any, jobs: Mapping[str, list[tuple[str | None, Any]]]) -> None:
    """Give a rule the input files of each of its jobs."""

    def of(name: str | None) -> Any:
        def files(wildcards: Any) -> Any:
            given = jobs[_of({one: wildcards[one] for one in rule.wildcard_names})]
            found = [files for key, files in given if key == name]
            return found[0] if name else found

        return files

    names = dict.fromkeys(name for given in jobs.values() for name, _ in given)
    rule._input = type(rule.input)()
    rule.dependencies.clear()
    rule.set_input(*[of(None)] * (None in names), **{name: of(name) for name in names if name})
