"""Rejects config files that Snakemake would run as a program, repeated keys, and YAML bombs.

Snakemake gives config files to a template engine (YTE): one with ``__use_yte__`` may hold Python
that runs before the Snakefile. So the profile of this workflow runs this file by its path, and it
imports nothing of featlearn.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

SWITCH = "__use_yte__"
#: Most values of a config, those counted often that an alias repeats.
VALUES = 100_000
#: Most bytes of a config in YAML, and in JSON: to parse as many takes two seconds.
YAML_BYTES, BYTES = 200_000, 2_000_000


class Repeated(ValueError):
    """A key stands twice in one group, of which readers would take the last without a word."""

    def __init__(self, key: str, before: str = "", after: str = ""):
        super().__init__(f"{before}the key {key[:80]!r} stands twice in one group{after}")


class _Loader(yaml.SafeLoader):
    """Plain YAML in which each key stands once."""

    def compose_mapping_node(self, anchor: Any) -> Any:
        # before anything is merged: what a group has by << it may have itself
        node = super().compose_mapping_node(anchor)
        first: dict[Any, int] = {}
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and not key.tag.endswith(":merge"):
                name, line = (key.tag, key.value), key.start_mark.line + 1
                if name in first:
                    raise Repeated(key.value, f"line {line}: ", f", first in line {first[name]}")
                first[name] = line
        return node


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A group of JSON in which each key stands once."""
    group: dict[str, Any] = {}
    for name, value in pairs:
        if name in group:
            raise Repeated(name)
        group[name] = value
    return group


def template_fault(words: Iterable[str]) -> str | None:
    """Why config files among the words of a command line are refused; None if not."""
    after = False
    for word in words:
        name, _, value = word.partition("=")
        option, configs = name.startswith("-"), name.startswith("--configf")
        path = Path(value if option else word)
        if after and not option and not path.is_file():
            return f"{word}: no such config file; behind --configfile every word is one"
        wanted = after or configs or path.suffix in (".yaml", ".yml", ".json")
        if wanted and path.exists() and not path.is_file() and not path.is_dir():
            return f"{path}: must be a regular file, got a pipe or a device"
        if wanted and path.is_file() and (fault := _fault(path)):
            return f"{path}: {fault}"
        after = configs and not value if option else after
    return None


def _fault(path: Path) -> str | None:
    try:
        if (size := path.stat().st_size) > BYTES:
            return f"must have at most {BYTES:,} bytes, got {size:,}"
        text = path.read_text(encoding="utf-8")
        try:
            # which Snakemake runs no Python of
            content = json.loads(text, object_pairs_hook=_pairs)
        except json.JSONDecodeError:
            if size > YAML_BYTES:
                return f"must have at most {YAML_BYTES:,} bytes of YAML, got {size:,}"
            content = yaml.load(text, _Loader)
            if isinstance(content, dict) and SWITCH in content:
                return f"{SWITCH}: a config that holds Python is not run; expected plain values"
    except Repeated as error:
        return str(error)
    except (OSError, yaml.YAMLError, ValueError, RecursionError) as error:
        return f"is not plain YAML: {error}"
    return size_fault(content)


def size_fault(content: Any) -> str | None:
    """Why a config is endless, or too large to be meant (by YAML aliases); None if neither."""
    counted: dict[int, int] = {}

    def count(value: Any) -> int:
        if not isinstance(value, (dict, list)):
            return 1
        if id(value) not in counted:
            counted[id(value)] = VALUES + 1  # what it holds while it is counted is itself
            parts = value.values() if isinstance(value, dict) else value
            counted[id(value)] = 1 + sum(map(count, parts))
        return counted[id(value)]

    try:
        total = count(content)
    except RecursionError:
        total = VALUES + 1
    if total <= VALUES:
        return None
    return f"holds more than {VALUES:,} values, or itself; expected a config that a person can read"
