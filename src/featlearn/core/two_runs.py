"""Two runs side by side, and the verdicts that two seeds leave of one ledger."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from featlearn.core.claims import UNDECIDED
from featlearn.core.stats import plus_minus

Row = dict[str, Any]

ENDS = ("interval_low", "interval_high")


def changed(first: pd.DataFrame, second: pd.DataFrame) -> pd.DataFrame:
    """Claims of both runs whose verdict differs, or whose intervals have no number in common.

    Returns
    -------
    DataFrame
        claim, first, second (verdicts), measured_first, measured_second (with their spread) and
        apart (whether the intervals exclude each other), in the order of the first run.
    """
    both = first.merge(second, on="claim", suffixes=("_first", "_second"), validate="1:1")
    rows = []
    for row in both.to_dict("records"):
        ends = ({end: row[f"{end}_{run}"] for end in ENDS} for run in ("first", "second"))
        beside = apart(*ends)
        if beside or row["verdict_first"] != row["verdict_second"]:
            rows.append(
                {
                    "claim": row["claim"],
                    "first": row["verdict_first"],
                    "second": row["verdict_second"],
                    "measured_first": plus_minus(row["measured_first"], row["spread_first"]),
                    "measured_second": plus_minus(row["measured_second"], row["spread_second"]),
                    "apart": beside,
                }
            )
    columns = ["claim", "first", "second", "measured_first", "measured_second", "apart"]
    return pd.DataFrame(rows, columns=columns)


def apart(first: Mapping[str, Any], second: Mapping[str, Any]) -> bool:
    """Whether the intervals of two rows have no number in common."""
    return bool(
        first["interval_low"] > second["interval_high"]
        or second["interval_low"] > first["interval_high"]
    )


def of_two_seeds(first: Sequence[Row], second: Sequence[Row]) -> list[Row]:
    """The ledger that two runs leave which differ in nothing but their base seed.

    Numbers are those of the first. What the two judge differently was decided by neither.

    Returns
    -------
    list of dict
        The rows of the first with ``second``, the row of the same claim in the second run or None,
        and ``alone``, the verdict of the first run; ``verdict`` is ``undecided`` where they differ.
    """
    others = {row["claim"]: row for row in second}
    told = []
    for row in first:
        other = others.get(row["claim"])
        alone = row["verdict"]
        verdict = alone if other is None or other["verdict"] == alone else UNDECIDED
        told.append({**row, "verdict": verdict, "alone": alone, "second": other})
    return told
