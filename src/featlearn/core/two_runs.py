"""Two runs side by side, and the verdicts that two seeds leave of one ledger."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd

from featlearn.core.claims import UNDECIDED
from featlearn.core.stats import plus_minus

Row = dict[str, Any]

ENDS = ("interval_low", "interval_high")
#: What of a claim must be the same in two runs for one to sign the other.
ASKED = ("quantity", "spread_kind", "low", "high")


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


def made_alike(
    row: Mapping[str, Any],
    first: Mapping[str, Any],
    second: Mapping[str, Any],
    reads: Mapping[str, Mapping[str, Sequence[str]]],
) -> bool:
    """Whether two configs agree in all that the raw numbers of a claim follow from.

    Parameters
    ----------
    row
        Of the ledger; its ``artefact`` is ``<paper>/measurements/<folder>/...``.
    first, second
        Whole configs of the two runs.
    reads
        ``config/reads.yaml``: of a paper and folder the sections, such as ``mrp.clean``. Without an
        entry it is the section called like the folder, and all of the paper where there is none.
    """
    paper, _, name = row["artefact"].split("/")[:3]
    folder = name.partition(".")[0]
    own, other = first.get(paper, {}), second.get(paper, {})
    section = folder.replace("-", "_")
    usual = [f"{paper}.{section}" if section in {*own, *other} else paper]
    shared = [
        f"{paper}.{key}"
        for key in {*own, *other}
        if not all(isinstance(config.get(key, {}), dict) for config in (own, other))
    ]
    places = [*reads.get(paper, {}).get(folder, usual), *shared]
    return all(_at(first, place) == _at(second, place) for place in places)


def _at(config: Mapping[str, Any], place: str) -> Any:
    """The part of a config at ``mrp.clean``, None where there is none."""
    part: Any = config
    for key in place.split("."):
        part = part.get(key) if isinstance(part, Mapping) else None
    return part


def of_two_seeds(
    first: Sequence[Row],
    second: Sequence[Row],
    alike: Callable[[Row], bool] = lambda row: True,
) -> list[Row]:
    """The ledger that two runs with different base seeds leave.

    Numbers are those of the first. What the two judge differently was decided by neither. A claim
    has a second seed where ``alike`` says that both made it alike and where :data:`ASKED` is the
    same: its quantity, how that is averaged, and its band.

    Returns
    -------
    list of dict
        The rows of the first with ``second``, the row of such a claim in the second run or None,
        and ``alone``, the verdict of the first run; ``verdict`` is ``undecided`` where they differ.
    """
    others = {row["claim"]: row for row in second}
    told = []
    for row in first:
        other = others.get(row["claim"])
        if other and not (alike(row) and all(row[key] == other[key] for key in ASKED)):
            other = None
        alone = row["verdict"]
        verdict = alone if other is None or other["verdict"] == alone else UNDECIDED
        told.append({**row, "verdict": verdict, "alone": alone, "second": other})
    return told
