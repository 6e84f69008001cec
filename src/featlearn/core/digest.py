"""What a reader sees of many claims at once: sentences, a matrix of papers, headline claims."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from featlearn.core.claims import FAILS, HOLDS, KINDS, NOT_SHOWN, THEOREM, UNDECIDED, VERDICTS

#: Most claims that a paper's section shows; the rest stands in the explorer.
HEADLINES = 8

Row = Mapping[str, Any]


def answer(ledger: Sequence[Row]) -> list[str]:
    """Three sentences on the whole ledger."""
    if not ledger:
        return ["This run judged no claim."]
    papers = list(dict.fromkeys(row["paper"] for row in ledger))
    printed = [row for row in ledger if row["kind"] == THEOREM]
    open_ = count(ledger, NOT_SHOWN) + count(ledger, UNDECIDED)
    failing = [
        f"{paper} ({number})"
        for paper in papers
        if (number := count([row for row in ledger if row["paper"] == paper], FAILS))
    ]
    return [
        f"Of {len(printed)} statements that {_papers(len(papers))} prove or print, "
        f"{count(printed, HOLDS)} hold here, {count(printed, FAILS)} fail, and "
        f"{count(printed, NOT_SHOWN) + count(printed, UNDECIDED)} are left open.",
        f"Of all {len(ledger)} claims, with the controls, identities and observations of this "
        f"software, {count(ledger, HOLDS)} hold, {count(ledger, FAILS)} fail, and {open_} are "
        "undecided or need a larger run.",
        f"Claims that fail: {', '.join(failing)}." if failing else "Nothing fails.",
    ]


def _papers(number: int) -> str:
    return f"{number} paper" if number == 1 else f"{number} papers"


def count(rows: Sequence[Row], verdict: str) -> int:
    """How many of the rows have the verdict."""
    return sum(row["verdict"] == verdict for row in rows)


def cells(rows: Sequence[Row]) -> dict[str, dict[str, int]]:
    """By kind of evidence, how many claims have which verdict; kinds and verdicts that occur."""
    found = {kind: [row for row in rows if row["kind"] == kind] for kind in KINDS}
    return {
        kind: {verdict: n for verdict in VERDICTS if (n := count(own, verdict))}
        for kind, own in found.items()
        if own
    }


def headlines(rows: Sequence[Row], first: Sequence[str] = ()) -> list[Row]:
    """At most :data:`HEADLINES` claims of a paper.

    Those that the findings name come first (picked by hand, with results in view), then by rule
    theorems, observations, controls and identities;
    within a kind the first claim on each file of raw numbers, then the second on each, in the order
    of the paper's package: so each experiment has its word.
    """
    turn: dict[tuple[str, str], int] = {}
    ranked = []
    for place, row in enumerate(rows):
        key = (row["kind"], row["artefact"])
        turn[key] = turn.get(key, -1) + 1
        order = (THEOREM, "observation", "control", "identity").index(row["kind"])
        ranked.append(((row["claim"] not in first, order, turn[key], place), row))
    ranked.sort(key=lambda pair: pair[0])
    return [row for _, row in ranked[:HEADLINES]]
