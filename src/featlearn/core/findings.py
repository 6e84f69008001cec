"""Findings: what the report shows first, ranked by hand in ``config/findings.yaml``.

An entry names a claim; number, interval and verdict are those of the ledger, and the verdict picks
the sentence: what is said is true whatever a run measures. A sentence may ask for numbers as
captions do (see :mod:`featlearn.core.prose`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from featlearn.core.claims import FAILS, HOLDS
from featlearn.core.config import faults, read_own_yaml, refuse

#: What a finding is to its paper: it bears it out, speaks against it, shows a misprint, or leaves
#: the question open.
CONFIRMS, CONTRADICTS, CORRECTS, OPEN = "confirms", "contradicts", "corrects", "open"

_TEXT = {"type": "string", "minLength": 1}
_NAME = {"type": "string", "pattern": "^[^/]+/[^/]+$", "description": "<paper>/<name>"}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["id", "claim", "question", "holds", "fails"],
    "properties": {
        "id": _TEXT,
        "claim": _NAME,
        "question": _TEXT,
        "holds": _TEXT,
        "fails": _TEXT,
        "paper_says": _TEXT,
        "figure": _NAME,
        "misprint": {"const": True},
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


def kind_of(entry: Mapping[str, Any], row: Mapping[str, Any]) -> str:
    """What a finding is to its paper by the row of its claim."""
    if row["verdict"] == FAILS:
        return CORRECTS if entry.get("misprint") else CONTRADICTS
    return CONFIRMS if row["verdict"] == HOLDS else OPEN


def sentence_of(entry: Mapping[str, Any], row: Mapping[str, Any]) -> str:
    """The sentence of an entry that the verdict of its claim calls for."""
    key = {HOLDS: "holds", FAILS: "fails"}.get(row["verdict"], "question")
    return str(entry[key])


def of_run(
    entries: Sequence[Mapping[str, Any]], rows: Mapping[str, Mapping[str, Any]]
) -> tuple[list[Mapping[str, Any]], list[Mapping[str, Any]]]:
    """The entries whose claims are in the run, and those whose papers are but not their claims.

    Parameters
    ----------
    rows
        Of each claim of the run its row of the ledger.
    """
    papers = {row["paper"] for row in rows.values()}
    own = [entry for entry in entries if entry["claim"] in rows]
    absent = [
        entry
        for entry in entries
        if entry["claim"] not in rows and entry["claim"].partition("/")[0] in papers
    ]
    return own, absent
