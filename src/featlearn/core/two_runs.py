"""Two runs side by side, and the verdicts that several seeds leave of one ledger."""

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


def of_seeds(
    first: Sequence[Row], *others: tuple[Sequence[Row], Callable[[Row], bool]]
) -> list[Row]:
    """The ledger that runs with different base seeds leave.

    Numbers are those of the first. What two of them judge differently was decided by none. Another
    run counts for a claim where :data:`ASKED` is the same: its quantity, how that is averaged, and
    its band.

    Parameters
    ----------
    first
        Rows of a run.
    *others
        Rows of each other one, and whether a row of the first was made alike in it.

    Returns
    -------
    list of dict
        The rows of the first with ``others``, the rows of such a claim in the other runs, and
        ``alone``, the verdict of the first; ``verdict`` is ``undecided`` where one differs.
    """
    by_claim = [({row["claim"]: row for row in rows}, alike) for rows, alike in others]
    told = []
    for row in first:
        made = [
            other
            for rows, alike in by_claim
            if (other := rows.get(row["claim"]))
            and alike(row)
            and all(row[key] == other[key] for key in ASKED)
        ]
        alone = row["verdict"]
        verdict = UNDECIDED if differing({"others": made, "alone": alone}) else alone
        told.append({**row, "verdict": verdict, "alone": alone, "others": made})
    return told


def differing(row: Mapping[str, Any]) -> list[Row]:
    """The rows of other seeds that judge a claim otherwise than its first run alone."""
    return [other for other in row.get("others", ()) if other["verdict"] != row["alone"]]
