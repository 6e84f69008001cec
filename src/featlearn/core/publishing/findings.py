"""Findings: what the report shows first, ranked by hand in ``config/findings.yaml``.

An entry names a claim and quotes its paper; the verdict of the ledger picks the sentence, which
asks for its number, see :func:`featlearn.core.publishing.summary.with_numbers`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from featlearn.core.evidence.claims import FAILS, HOLDS
from featlearn.core.run.config import faults, read_own_yaml, refuse

#: In the repository: what the report shows first, and claims whose published verdict is withdrawn
#: until they are judged again.
FINDINGS, WITHDRAWN = "config/findings.yaml", "config/withdrawn.yaml"
#: Most words of a sentence on a finding, its number counted as one, and of a quotation.
MOST_WORDS = {"holds": 25, "fails": 25, "paper_says": 20}
_TEXT = {"type": "string", "minLength": 1}
_NAME = {"type": "string", "pattern": "^[^/]+/[^/]+$", "description": "<paper>/<name>"}
_NEEDED = ("id", "paper_says", "question", "holds", "fails")
SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": [*_NEEDED, "claim"],
    "properties": {
        **dict.fromkeys(_NEEDED, _TEXT),
        **dict.fromkeys(("claim", "figure"), _NAME),
        "misprint": {"const": True},
    },
}
_REASONS = {"type": "object", "propertyNames": _NAME, "additionalProperties": _TEXT}


def read_withdrawn(file: Path) -> dict[str, str]:
    """By claim, why its published verdict is withdrawn; ConfigError naming a wrong entry."""
    if not file.is_file():
        return {}
    entries = read_own_yaml(file) or {}
    refuse((f"{file}: {line}" for line in faults(entries, _REASONS)), "withdrawn claims are")
    return dict(entries)


def read_findings(path: Path) -> list[dict[str, Any]]:
    """Entries of the file, in order; ConfigError naming each wrong one."""
    entries = read_own_yaml(path)["findings"]
    withdrawn = read_withdrawn(path.with_name(Path(WITHDRAWN).name))
    refuse((f"{path}: finding {line}" for line in _faults(entries, withdrawn)), "the findings are")
    return list(entries)


def _faults(entries: Sequence[Any], withdrawn: Mapping[str, str]) -> Iterator[str]:
    names: set[str] = set()
    for number, entry in enumerate(entries, 1):
        wrong = list(faults(entry, SCHEMA))
        name = str(entry.get("id", number) if isinstance(entry, Mapping) else number)
        yield from (f"{name}: {line}" for line in wrong)
        if wrong:
            continue
        if name in names:
            yield f"{name}: is there twice"
        names.add(name)
        if entry["claim"] in withdrawn:
            yield f"{name}: the verdict of {entry['claim']} is withdrawn"
        for key, most in MOST_WORDS.items():
            if (words := len(entry[key].split())) > most:
                yield f"{name}: {key} must have at most {most} words, got {words}"


def kind_of(entry: Mapping[str, Any], row: Mapping[str, Any]) -> str:
    """What a finding is to its paper by the row of its claim; a misprint ``corrects`` it."""
    if row["verdict"] == FAILS:
        return "corrects" if entry.get("misprint") else "contradicts"
    return "confirms" if row["verdict"] == HOLDS else "open"


def sentence_of(entry: Mapping[str, Any], row: Mapping[str, Any]) -> str:
    """The sentence of an entry that the verdict of its claim calls for."""
    return str(entry[{HOLDS: "holds", FAILS: "fails"}.get(row["verdict"], "question")])


def of_run(
    entries: Sequence[Mapping[str, Any]], rows: Mapping[str, Mapping[str, Any]]
) -> tuple[list[Mapping[str, Any]], list[Mapping[str, Any]]]:
    """The entries whose claims have ``rows`` in the run, and those of which only papers do."""
    papers = {row["paper"] for row in rows.values()}
    known = [entry for entry in entries if entry["claim"].partition("/")[0] in papers]
    here = [entry for entry in known if entry["claim"] in rows]
    return here, [entry for entry in known if entry not in here]
