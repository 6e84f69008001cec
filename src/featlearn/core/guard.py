"""A config file is data: one that Snakemake would run as a program is refused.

Snakemake hands config files to a template engine (YTE). A YAML file that says ``__use_yte__`` may
hold Python, which runs while the file is read, before any line of the Snakefile. So the profile
of this workflow, which Snakemake reads first, looks at the files on the command line with
:func:`template_fault`. A key that stands twice is refused here as well: after reading nobody can
tell. The profile runs this file by its path: it imports nothing of featlearn.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

SWITCH = "__use_yte__"
#: Letters of a key that a message repeats.
LETTERS = 80
#: Most values of a config, those counted often that an alias repeats.
VALUES = 100_000


class Repeated(ValueError):
    """A key stands twice in one group, of which readers would take the last without a word."""


class _Loader(yaml.SafeLoader):
    """Plain YAML in which each key stands once."""

    def compose_mapping_node(self, anchor: Any) -> Any:
        # before anything is merged: what a group has by << it may have itself
        node = super().compose_mapping_node(anchor)
        first: dict[Any, int] = {}
        for key, _ in node.value:
            line = key.start_mark.line + 1
            if not isinstance(key, yaml.ScalarNode) or key.tag.endswith(":merge"):
                continue
            name = (key.tag, key.value)
            if name in first:
                raise Repeated(f"line {line}: {_twice(key.value)} (it is in line {first[name]})")
            first[name] = line
        return node


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A group of JSON in which each key stands once."""
    group = dict(pairs)
    if len(group) < len(pairs):
        names = [name for name, _ in pairs]
        raise Repeated(_twice(next(name for name in names if names.count(name) > 1)))
    return group


def _twice(key: str) -> str:
    return f"the key {key[:LETTERS]!r} stands twice in one group; expected it once"


def template_fault(words: Iterable[str]) -> str | None:
    """Why the config files among the words of a command line are refused; None if they are not.

    Every word that names a file ending in ``.yaml``, ``.yml`` or ``.json`` counts, and every word
    after ``--configfile``, which must name one: a file too many is looked at, never one too few.
    """
    after = False
    for word in words:
        name, _, value = word.partition("=")
        option = name.startswith("-")
        path = Path(value if option else word)
        if after and not option and not path.is_file():
            return (
                f"{word}: no such config file. Every word behind --configfile is one; give targets "
                "before it"
            )
        wanted = after or name.startswith("--configf")
        wanted = (wanted or path.suffix in (".yaml", ".yml", ".json")) and path.is_file()
        if wanted and (fault := _fault(path)):
            return f"{path}: {fault}"
        after = name.startswith("--configf") and not value if option else after
    return None


def _fault(path: Path) -> str | None:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        return f"cannot be read: {error}"
    try:
        content = json.loads(text, object_pairs_hook=_pairs)
    except Repeated as error:
        return str(error)
    except (ValueError, RecursionError):
        pass
    else:
        return size_fault(content)  # Snakemake takes JSON for what it is
    try:
        content = yaml.load(text, _Loader)
    except Repeated as error:
        return str(error)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        return f"is not plain YAML: {error}"
    if fault := size_fault(content):
        return fault
    if isinstance(content, dict) and SWITCH in content:
        return (
            f"{SWITCH}: a config that holds Python is not run; expected plain values "
            "(evaluate it with yte where you trust it, and give the result)"
        )
    return None


def size_fault(content: Any) -> str | None:
    """Why a config is too large to be meant, or has no end; None if it is neither.

    Aliases of YAML share what they stand for: ten lines can hold a billion values, or themselves.
    """
    counted: dict[int, int] = {}

    def count(value: Any) -> int:
        if not isinstance(value, (dict, list)):
            return 1
        if (own := counted.get(id(value))) is None:
            counted[id(value)] = VALUES + 1  # what it holds while it is counted is itself
            parts = value.values() if isinstance(value, dict) else value
            own = counted[id(value)] = 1 + sum(map(count, parts))
        return own

    try:
        total = count(content)
    except RecursionError:
        total = VALUES + 1
    if total <= VALUES:
        return None
    return f"holds more than {VALUES:,} values, or itself; expected a config that a person can read"
