"""Ids of claims that captions, stories and findings quote, checked while a plan is made.

Ids are read off the decorators of the ``analysis`` modules with :mod:`ast`, so a plan imports none
of them. ``{word}`` in the id of a family stands for a string of its module; classes that override
``made`` may put the name of a data set, a key of the config, before their ids.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from featlearn.core.errors import FeatlearnError
from featlearn.core.publish import PACKAGE

CLAIM = re.compile(r"""\b(?:verdict|said)\(\s*["']([^"']+)["']""")
TABLE = re.compile(r"""\bvalue\(\s*["']([^"'/]+)["']""")


def _ids(tree: ast.Module) -> Iterator[str]:
    """Ids of the claims of a module as they are spelled, without the paper."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            for mark in node.decorator_list:
                if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "claim":
                    given = {word.arg: ast.literal_eval(word.value)
                             for word in mark.keywords if word.arg == "id"}  # fmt: skip
                    yield given.get("id", node.name.replace("_", "-"))


def _pattern(file: Path) -> str:
    """A regular expression for the ids of a module."""
    tree = ast.parse(file.read_bytes(), filename=str(file))
    nodes = [*ast.walk(tree)]
    strings = {str(node.value) for node in nodes if isinstance(node, ast.Constant)}
    words = "|".join(word for word in strings if re.fullmatch(r"[\w.-]+", word))
    prefix = any(isinstance(node, ast.FunctionDef) and node.name == "made" for node in nodes)
    ids = "|".join(re.sub(r"\\\{\w+\\\}", f"(?:{words})", re.escape(id)) for id in _ids(tree))
    return (r"(?:[\w.-]+-)?" if prefix else "") + f"(?:{ids})" if ids else ""


@functools.cache
def _known(paper: str) -> re.Pattern[str]:
    room = PACKAGE / paper
    files = sorted((*room.glob("analysis.py"), *room.glob("analysis/**/*.py")))
    return re.compile("|".join(filter(None, map(_pattern, files))) or "(?!)")


def is_known(claim: str) -> bool:
    """Whether the paper of ``<paper>/<name>`` declares such a claim."""
    paper, _, name = claim.partition("/")
    return _known(paper).fullmatch(name) is not None


def refuse_missing_tables(texts: Iterable[tuple[str, str, str]], tables: Container[str]) -> None:
    """Refuse texts, each with its place and paper, that quote none of ``tables``, as paper/name."""
    _refuse(
        f"{place}: quotes the table {paper}/{name}, which no rule makes"
        for place, paper, text in texts
        for name in TABLE.findall(text)
        if f"{paper}/{name}" not in tables
    )


def refuse_unknown(texts: Iterable[tuple[str, str]]) -> None:
    """Refuse texts, each with its place, that quote a claim that its paper does not declare."""
    _refuse(
        f"{place}: asks for the claim {claim}, which no claims module of its paper declares"
        for place, text in texts
        for claim in CLAIM.findall(text)
        if not is_known(claim)
    )


def refuse_unknown_findings(entries: Sequence[Mapping[str, Any]], papers: Iterable[str]) -> None:
    """The same of the claims that findings rest on, of these papers."""
    chosen = {*papers}
    _refuse(
        f"finding {entry['id']}: no claims module declares {entry['claim']}"
        for entry in entries
        if entry["claim"].partition("/")[0] in chosen and not is_known(entry["claim"])
    )


def _refuse(lines: Iterable[str]) -> None:
    if text := "\n".join(lines):
        raise FeatlearnError(text)
