"""Findings: what the report shows first, ranked by hand in ``config/findings.yaml``.

An entry names a claim; number, interval and verdict are those of the ledger. ``sentence`` may ask
for numbers as captions do (see :mod:`featlearn.core.prose`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from featlearn.core.config import faults, read_own_yaml, refuse
from featlearn.core.errors import FeatlearnError

#: What a finding is to its paper: it bears it out, speaks against it, or corrects what is printed.
KINDS = ("confirms", "contradicts", "misprint")

_TEXT = {"type": "string", "minLength": 1}
_NAME = {"type": "string", "pattern": "^[^/]+/[^/]+$", "description": "<paper>/<name>"}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["id", "claim", "kind", "sentence"],
    "properties": {
        "id": _TEXT,
        "claim": _NAME,
        "kind": {"enum": list(KINDS)},
        "sentence": _TEXT,
        "paper_says": _TEXT,
        "figure": _NAME,
    },
}


def read_findings(path: Path) -> list[dict[str, Any]]:
    """Entries of the file, in order.

    Raises
    ------
    ConfigError
        Naming each wrong entry: a key that is missing, unknown or of another type, an id that
        stands there twice.
    """
    entries = read_own_yaml(path)["findings"]
    refuse((f"{path}: {line}" for line in _faults(entries)), "the findings are")
    return list(entries)


def _faults(entries: Sequence[Any]) -> Iterator[str]:
    seen: set[str] = set()
    for number, entry in enumerate(entries, 1):
        wrong = list(faults(entry, SCHEMA))
        name = str(entry.get("id", number) if isinstance(entry, Mapping) else number)
        yield from (f"finding {name}: {line}" for line in wrong)
        if not wrong:
            if name in seen:
                yield f"finding {name}: stands there twice"
            seen.add(name)


def of_run(
    entries: Sequence[Mapping[str, Any]],
    claims: Collection[str],
    figures: Collection[str],
    papers: Collection[str],
) -> list[Mapping[str, Any]]:
    """The entries of papers that are in the run.

    Raises
    ------
    FeatlearnError
        Naming an entry whose claim or figure its paper does not have.
    """
    own = [entry for entry in entries if entry["claim"].partition("/")[0] in papers]
    for entry in own:
        if entry["claim"] not in claims:
            raise FeatlearnError(f"finding {entry['id']}: no claim {entry['claim']!r} in the run")
        if "figure" in entry and entry["figure"] not in figures:
            raise FeatlearnError(f"finding {entry['id']}: no figure {entry['figure']!r} in the run")
    return own
