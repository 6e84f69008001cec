"""What the keys of a section must be beside each other, and the words of a fault."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partialmethod, reduce
from operator import getitem
from typing import Any

#: Most letters of a value that a message repeats.
LETTERS = 80
#: What a paper's own check gives: lines such as ``mrp.headline.data.patches must be at least ...``.
Check = Callable[[Mapping[str, Any]], Iterable[str]]


def must(key: str, expected: str, value: Any) -> str:
    """The message of a fault: the path of a key, what its value must be, and what it is."""
    return f"{key} must be {expected}, got {cut(value)}"


def cut(value: Any, write: Callable[[Any], str] = repr) -> str:
    """A value as a message repeats it: printable, on one line and of at most LETTERS letters."""
    text = write(value)
    return text if len(text) <= LETTERS else f"{text[: LETTERS - 4]} ..."


def word(key: object) -> str:
    """A key as a message names it."""
    text = str(key)
    return cut(text, str) if text.isprintable() else cut(text)


def some(names: Iterable[object], most: int = 8) -> str:
    """The first names, and how many there are more."""
    every = list(map(str, names))
    more = f" and {len(every) - most} more" if len(every) > most else ""
    return ", ".join(every[:most]) + more


def unknown(name: object, known: Sequence[str]) -> str:
    """What is said of a name that is none of the known ones."""
    near = difflib.get_close_matches(str(name), known, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"expected one of {', '.join(known)}"
    return f"unknown key; {hint}"


def path_of(config: Any, key: str) -> list[Any] | None:
    """The parts of a dotted key of a config, if it is there; chosen names may hold dots, too."""
    if not key:
        return []
    names = range(len(config)) if isinstance(config, list) else config
    for name in names if isinstance(config, Mapping | list) else ():
        if f"{key}.".startswith(f"{name}."):
            rest = path_of(config[name], key[len(str(name)) + 1 :])
            if rest is not None:
                return [name, *rest]
    return None


def value_of(config: Mapping[str, Any], key: str) -> Any:
    """The value of a dotted key that the config has."""
    return reduce(getitem, path_of(config, key) or (), config)


def keys(value: Any, path: str = "") -> Iterator[str]:
    """The dotted names of all keys of a config, groups and entries of lists of groups too."""
    below = enumerate(value) if isinstance(value, list) else ()
    for key, inner in value.items() if isinstance(value, Mapping) else below:
        if isinstance(value, Mapping) or isinstance(inner, Mapping):
            name = f"{path}.{key}".removeprefix(".")
            yield name
            yield from keys(inner, name)


class Checks:
    """Collects the faults of a section: what its keys must be beside the others.

    ``path``: where the ``section`` stands in the config; a dotted name means a key in a group.

    >>> check = Checks("toy", {"kept": 4, "window": 8, "sizes": [1, 3]})
    >>> check.more("kept", "window"), check.holds("sizes", 2)
    (False, False)
    >>> check.faults
    ['toy.kept must be more than window (8), got 4', 'toy.sizes must be a list with 2, got [1, 3]']
    """

    def __init__(self, path: str, section: Mapping[str, Any]) -> None:
        self.path, self.section = path, section
        self.faults: list[str] = []

    def value(self, key: str) -> Any:
        """What a dotted key has, or None."""
        return None if path_of(self.section, key) is None else value_of(self.section, key)

    def __call__(self, key: str, right: object, expected: str, value: Any = ...) -> bool:
        """What is not ``right`` is a fault of the key, or of ``value`` in it (text: as it is)."""
        if not right:
            words = word(value) if isinstance(value, str) else cut(value)
            shown = cut(self.value(key)) if value is ... else words
            self.faults.append(f"{self.path}.{key} must be {expected}, got {shown}")
        return bool(right)

    def _compare(self, words: str, key: str, other: str, why: str = "") -> bool:
        value, limit = self.value(key), self.value(other)
        upper = words in ("at most", "less than")
        if isinstance(value, list):
            value = max(value) if upper else min(value)
        right = value < limit if upper else value > limit
        right = right or (value == limit and words.startswith("at "))
        return self(key, right, f"{words} {other} ({limit}){why and ': '}{why}", value)

    # what a key must be beside the value of another: of a list its largest, or its smallest entry
    most, less = partialmethod(_compare, "at most"), partialmethod(_compare, "less than")
    least, more = partialmethod(_compare, "at least"), partialmethod(_compare, "more than")

    def multiple(self, key: str, other: str) -> bool:
        """A multiple of the value of another key."""
        divisor = self.value(other)
        return self(key, self.value(key) % divisor == 0, f"a multiple of {other} ({divisor})")

    def one_of(self, key: str, other: str) -> bool:
        """An entry of a list, or a name of a group."""
        known = self.value(other)
        words = f"one of {other} ({', '.join(map(str, known))})"
        return self(key, self.value(key) in known, words)

    def holds(self, key: str, *entries: Any, why: str = "") -> bool:
        """A list with these entries, or a group with these names."""
        group = self.value(key)
        lacking = [entry for entry in entries if entry not in group]
        value = list(group) if isinstance(group, Mapping) else group
        kind = "group" if isinstance(group, Mapping) else "list"
        words = " and ".join(map(str, lacking))
        return self(key, not lacking, f"a {kind} with {words}{why and ', '}{why}", value)

    def rising(self, key: str) -> bool:
        """A list from small to large, each entry once."""
        value = self.value(key)
        return self(key, value == sorted(set(value)), "a rising list")
