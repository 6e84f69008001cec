"""Two runs side by side: verdicts, numbers, files; and the verdicts that several seeds leave."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from featlearn.core.evidence.claims import UNDECIDED
from featlearn.core.evidence.stats import plus_minus

Row = dict[str, Any]

ENDS = ("interval_low", "interval_high")
#: What of a claim must be the same in two runs for one to sign the other.
SAME = ("quantity", "spread_kind", "low", "high")
#: Columns of :func:`changed`.
COLUMNS = ("claim", "first", "second", "measured_first", "measured_second", "apart")


def read_checksums(path: Path) -> dict[str, str]:
    """``file -> SHA-256`` of a list in the form of sha256sum."""
    pairs = (line.split("  ", 1) for line in path.read_text(encoding="utf-8").splitlines())
    return {name: value for value, name in pairs}


def differences(expected: Mapping[str, str], found: Mapping[str, str], what: str) -> list[str]:
    """One line for each file that is missing, new or different."""
    lines = [f"{name}: missing {what}" for name in sorted(expected.keys() - found.keys())]
    lines += [f"{name}: only {what}" for name in sorted(found.keys() - expected.keys())]
    same = sorted(expected.keys() & found.keys())
    return lines + [f"{name}: differs {what}" for name in same if expected[name] != found[name]]


def changed(first: pd.DataFrame, second: pd.DataFrame) -> pd.DataFrame:
    """Claims whose verdict differs, or whose intervals exclude each other: :data:`COLUMNS`."""
    both = first.merge(second, on="claim", suffixes=("_first", "_second"), validate="1:1")
    rows = []
    for row in both.to_dict("records"):
        runs = [{key: row[f"{key}_{run}"] for key in ("verdict", "measured", "spread", *ENDS)}
                for run in ("first", "second")]  # fmt: skip
        verdicts = [run["verdict"] for run in runs]
        if apart(*runs) or verdicts[0] != verdicts[1]:
            numbers = (plus_minus(run["measured"], run["spread"]) for run in runs)
            rows.append((row["claim"], *verdicts, *numbers, apart(*runs)))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def apart(first: Mapping[str, Any], second: Mapping[str, Any]) -> bool:
    """Whether the intervals of two rows have no number in common; rounding does not count."""
    low, high = ENDS
    beyond = max(first[low] - second[high], second[low] - first[high])
    return bool(beyond > 1e-9 * abs(first["measured"]))


def made_alike(
    row: Mapping[str, Any], first: Mapping[str, Any], second: Mapping[str, Any],
    reads: Mapping[str, Mapping[str, Sequence[str]]],
) -> bool:  # fmt: skip
    """Whether two configs agree in all that the raw numbers of a claim follow from.

    ``row``: of the ledger; its ``artefact`` is ``<paper>/measurements/<folder>/...``. ``reads``:
    ``config/reads.yaml``: of a paper and folder the sections. Without an entry it is the section
    called like the folder, and all of the paper where there is none.
    """
    paper, _, name = row["artefact"].split("/")[:3]
    folder = name.partition(".")[0]
    parts = [config.get(paper, {}) for config in (first, second)]
    keys = {key for part in parts for key in part}
    section = folder.replace("-", "_")
    usual = [f"{paper}.{section}" if section in keys else paper]
    shared = [
        f"{paper}.{key}"
        for key in keys
        if not all(isinstance(part.get(key, {}), dict) for part in parts)
    ]
    places = [*reads.get(paper, {}).get(folder, usual), *shared]

    def at(config: Any, place: str) -> Any:
        for key in place.split("."):
            config = config.get(key) if isinstance(config, Mapping) else None
        return config

    return all(at(first, place) == at(second, place) for place in places)


def of_seeds(
    first: Sequence[Row], *others: tuple[Sequence[Row], Callable[[Row], bool]]
) -> list[Row]:
    """The ledger that runs with different base seeds leave; its numbers are those of the first.

    ``*others``: rows of other runs, and whether a row of the first was made alike there; it counts
    where :data:`SAME` is the same, too. Returns list of dict: rows of the first with ``others`` and
    ``alone``, its verdict; ``verdict`` is ``undecided`` where one differs.
    """
    by_claim = [({row["claim"]: row for row in rows}, alike) for rows, alike in others]
    signed = []
    for row in first:
        made = [
            other
            for rows, alike in by_claim
            if (other := rows.get(row["claim"]))
            and alike(row)
            and all(row[key] == other[key] for key in SAME)
        ]
        row = {**row, "alone": row["verdict"], "others": made}
        signed.append(row | {"verdict": UNDECIDED} if differing(row) else row)
    return signed


def differing(row: Mapping[str, Any]) -> list[Row]:
    """The rows of other seeds that judge a claim otherwise than its first run alone."""
    return [other for other in row.get("others", ()) if other["verdict"] != row["alone"]]
