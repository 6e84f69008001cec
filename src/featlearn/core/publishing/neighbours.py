"""What the neighbours of a run say of its verdicts.

A verdict that one turns is ``undecided``. A claim ``outside premises`` ``fails`` if it fails at a
neighbour, where the premises are met, and holds at none. What measured another quantity says
nothing of a claim.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from featlearn.core.errors import FeatlearnError
from featlearn.core.evidence.claims import FAILS, HOLDS, NOT_MEASURED, OUTSIDE, UNDECIDED, VIOLATED
from featlearn.core.publishing.compare_runs import apart
from featlearn.core.publishing.summary import measured

Row = dict[str, Any]

#: Of a run, an experiment each: what each of its neighbours measured.
FILES = "neighbours/*/*.parquet"


def gathered(parts: Sequence[tuple[Mapping[str, str], pd.DataFrame]]) -> pd.DataFrame:
    """The ledgers of neighbours below each other; FeatlearnError naming an unknown premise."""
    for about, ledger in parts:
        told = ledger[(ledger["verdict"] != NOT_MEASURED) & (ledger["premises"] != "")]["premises"]
        known = sorted({line.rpartition(": at ")[0] for text in told for line in text.split("\n")})
        if about["towards"] and about["towards"] not in known:
            towards = f"towards must be a premise ({', '.join(known) or 'there is none'})"
            raise FeatlearnError(
                f"neighbour {about['name']!r}: {towards}, got {about['towards']!r}"
            )
    frames = [
        ledger.assign(neighbour=about["name"], towards=about["towards"]) for about, ledger in parts
    ]
    return pd.concat(frames, ignore_index=True)


def with_neighbours(row: Row, found: Sequence[Row]) -> Row:
    """A row of a ledger with ``turns_with``, ``approached`` and the verdict that is left."""
    alone, what = row["alone"] if "alone" in row else row["verdict"], row.get("what_failed", "")
    alike = [one for one in found if _measures(one) == _measures(row)]
    outside = (OUTSIDE,) if row.get("premises_met") == VIOLATED else ()
    fails = () if HOLDS in {one["verdict"] for one in alike} else (FAILS,)
    contrary = {HOLDS: (FAILS, *outside), FAILS: (HOLDS,), OUTSIDE: fails}.get(alone, ())
    turning = [one for one in alike if one["verdict"] in contrary]
    ways = [(one, way) for one in alike if (way := _way(row, one))]
    verdict = UNDECIDED if turning and alone != OUTSIDE else row["verdict"]
    if turning and alone == verdict == OUTSIDE:
        verdict, what = FAILS, turning[0]["what_failed"]
    return row | {
        "verdict": verdict,
        "what_failed": what,
        "turns_with": "; ".join(
            f"{one['neighbour']}: {one['verdict']}, {measured(one)}" for one in turning
        ),
        "approached": "; ".join(
            f"{one['neighbour']}, {one['towards']}: {measured(one)}, {way} the band"
            for one, way in ways
        ),
    }


def _measures(row: Row) -> tuple[str, str]:
    """What a claim measures; numbers in it are settings, which a neighbour may change."""
    return row["spread_kind"], re.sub(r"\d[\d.,]*", "", row["quantity"])


def page(run: pd.DataFrame, found: pd.DataFrame) -> str:
    """Markdown: the verdicts that neighbours (:func:`gathered`) leave, those that turn first."""
    by_claim: dict[Any, Any] = {
        claim: part.to_dict("records") for claim, part in found.groupby("claim")
    }
    judged: list[Any] = [row for row in run.to_dict("records") if row["claim"] in by_claim]
    rows = [with_neighbours(row, by_claim[row["claim"]]) for row in judged]
    turning = sum(bool(row["turns_with"]) for row in rows)
    lines = [
        f"| `{row['claim']}` | {one['verdict']}, {measured(one)} | "
        f"{row['turns_with'] or row['approached'] or 'no'} |"
        for one, row in zip(judged, rows, strict=True)
    ]
    lines.sort(key=lambda line: line.endswith("| no |"))
    alone = [claim for claim in by_claim if claim not in set(run["claim"])]
    lost = f" The run itself has no verdict on {', '.join(alone)}." if alone else ""
    head = [f"They turn {turning} of {len(lines)} verdicts.{lost}", "",
            "| claim | the run | a neighbour turns it |", "|:--|:--|:--|"]  # fmt: skip
    return "\n".join(["# Neighbours", "", *head, *lines, ""])


def _way(row: Row, one: Row) -> str:
    """Where the number goes as a violated premise comes nearer; nothing if it says nothing."""
    before, after = (
        [line for line in (each.get("premises") or "").split("\n") if one["towards"] and
         line.startswith(f"{one['towards']}: ") ] for each in (row, one)
    )  # fmt: skip
    if not before or before == after or not before[0].endswith(VIOLATED) or not apart(row, one):
        return ""
    far, near = (max(each["low"] - each["measured"], each["measured"] - each["high"], 0.0)
                 for each in (row, one))  # fmt: skip
    return "" if near == far else "towards" if near < far else "away from"
