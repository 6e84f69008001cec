"""Claims that texts ask for: known before a run, by name.

Captions, stories and findings quote verdicts by the id of a claim (see
:mod:`featlearn.core.prose`). Ids are read off the claims modules by :mod:`ast`, so the plan imports
none of them. Some follow from a config, as ``f"{data_set}-accuracy"``: of such an id the fixed part
must fit.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from featlearn.core.errors import FeatlearnError
from featlearn.core.publish import PACKAGE

ASKED = re.compile(r"""\b(?:verdict|said)\(\s*["']([^"']+)["']""")
NAME = re.compile(r"[A-Za-z0-9][\w.]*(?:-[\w.]+)*")


@dataclass(frozen=True)
class Names:
    """What the claims modules of a paper say of the names of their claims.

    Attributes
    ----------
    spelled
        Names, and parts of names, as they stand there.
    composed
        What f-strings make, with a group for each part that they fill in.
    words
        Of which such a part may consist.
    """

    spelled: frozenset[str]
    composed: tuple[re.Pattern[str], ...]
    words: frozenset[str]

    def has(self, name: str) -> bool:
        """Whether ``name`` can be put together; a data set's name, a key of the config, may begin.

        ``f"images-{data_set}-"`` and a literal behind it are tried as well.
        """
        ends = [at for at, letter in enumerate(name) if letter == "-"]
        return (
            self._whole(name)
            or (bool(ends) and self._whole(name[ends[0] + 1 :]))
            or any(
                name[at + 1 :] in self.spelled
                and any(one.pattern.endswith("-") and one.fullmatch(name[: at + 1])
                        for one in self.composed)
                for at in ends
            )
        )  # fmt: skip

    def _whole(self, name: str) -> bool:
        return name in self.spelled or any(
            all(
                word in self.words or word.isdigit()
                for part in found.groups()
                for word in part.strip("-").split("-")
                if word
            )
            for found in (pattern.fullmatch(name) for pattern in self.composed)
            if found
        )


@functools.cache
def _names(paper: str) -> Names:
    spelled, composed = set(), set()
    room = PACKAGE / paper
    for file in (*room.glob("claims.py"), *room.glob("claims/**/*.py")):
        for node in ast.walk(ast.parse(file.read_bytes(), filename=str(file))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                spelled.add(node.value.removeprefix(f"{paper}/"))
            elif isinstance(node, ast.JoinedStr):
                composed.add(_pattern(node, paper))
    names = frozenset(name for name in spelled if NAME.fullmatch(name))
    words = frozenset(word for name in names for word in re.split(r"[-_]", name))
    return Names(names, tuple(re.compile(one) for one in sorted(composed - {""})), words)


def _pattern(node: ast.JoinedStr, paper: str) -> str:
    """A pattern for the f-string of a name; nothing, where it fixes no word of one."""
    parts = [part.value if isinstance(part, ast.Constant) else None for part in node.values]
    if parts and isinstance(parts[0], str):
        parts[0] = parts[0].removeprefix(f"{paper}/")
    fixed = "".join(str(part) for part in parts if part is not None)
    if not re.search(r"[a-z0-9]", fixed) or not re.fullmatch(r"[\w.-]+", fixed):
        return ""
    return "".join(r"([\w.-]*)" if part is None else re.escape(str(part)) for part in parts)


def is_known(claim: str) -> bool:
    """Whether the paper of ``<paper>/<name>`` may declare such a claim."""
    paper, _, name = claim.partition("/")
    return _names(paper).has(name)


def asked_for(text: str) -> list[str]:
    """Ids of the claims that a caption or story asks for."""
    return ASKED.findall(text)


def refuse_unknown(texts: Iterable[tuple[str, str]]) -> None:
    """Refuse texts, each with the words for where it stands, that ask for a claim nobody declares.

    Raises
    ------
    FeatlearnError
        Naming each text and id.
    """
    lines = [
        f"{where}: asks for the claim {claim}, which no claims module of its paper declares"
        for where, text in texts
        for claim in asked_for(text)
        if not is_known(claim)
    ]
    if lines:
        raise FeatlearnError("\n".join(lines))


def refuse_unknown_findings(entries: Sequence[Mapping[str, Any]], papers: Iterable[str]) -> None:
    """The same of the claims that findings rest on, of these papers."""

    def lines() -> Iterator[str]:
        own = {*papers}
        for entry in entries:
            claim = entry["claim"]
            if claim.partition("/")[0] in own and not is_known(claim):
                yield f"finding {entry['id']}: no claims module declares {claim}"

    if wrong := list(lines()):
        raise FeatlearnError("\n".join(wrong))
